import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { bundledWorkflows, cachedWorkflowBundle } from '../../src/workflow-bundle';

type TestBundle = { readonly codePath: string } | { readonly code: string };

const TESTS = path.resolve(__dirname, '..');
const CACHE = path.resolve(__dirname, '../../node_modules/.cache/temporal-media');
/** Workflows that tests need besides those of the package. */
export const TEST_WORKFLOWS = path.join(__dirname, 'workflows', 'index.ts');

const bundles = new Map<string, Promise<TestBundle>>();

/**
 * Workflow code of the sources as they are now, bundled once for all test files and not in seconds of each: that of
 * the package, or that of a test with everything beside it in its folder.
 */
export function testBundle(workflowsPath = ''): Promise<TestBundle> {
  const bundle =
    bundles.get(workflowsPath) ??
    (workflowsPath === '' ? cachedWorkflowBundle(CACHE) : bundleOfTest(workflowsPath));
  bundles.set(workflowsPath, bundle);
  return bundle;
}

let packageBundle: Promise<string> | undefined;

/** File of the package's own bundle, for workers in other processes: one test has one, whatever becomes of the sources. */
export function testBundlePath(): Promise<string> {
  return (packageBundle ??= cachedWorkflowBundle(CACHE).then(({ codePath }) => codePath));
}

async function bundleOfTest(workflowsPath: string): Promise<TestBundle> {
  // A project elsewhere brings packages of its own, and is gone after its test: nothing of it is kept.
  if (path.relative(TESTS, workflowsPath).startsWith('..')) return bundleOf(workflowsPath);
  const folder = path.dirname(workflowsPath);
  // The name of the package's own bundle says which version of its code and of the SDK this one holds.
  const hash = createHash('sha256')
    .update(await testBundlePath())
    .update(workflowsPath);
  for (const name of readdirSync(folder).sort())
    hash.update(name).update(readFileSync(path.join(folder, name)));
  const codePath = path.join(CACHE, `test-workflows-${hash.digest('hex').slice(0, 16)}.js`);
  if (existsSync(codePath)) return { codePath };
  const { code } = await bundleOf(workflowsPath);
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(`${codePath}.${process.pid}`, code);
  renameSync(`${codePath}.${process.pid}`, codePath);
  return { codePath };
}

async function bundleOf(workflowsPath: string): Promise<{ readonly code: string }> {
  const { workflowBundle } = await bundledWorkflows({ workflowsPath });
  return workflowBundle as { readonly code: string };
}
