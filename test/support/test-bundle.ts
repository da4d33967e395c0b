import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { packagedWorkflows } from '../../src/installation';
import { bundledWorkflows, sdkVersions, workflowDigest } from '../../src/workflow-bundle';

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
    (workflowsPath === ''
      ? testBundlePath().then((codePath) => ({ codePath }))
      : bundleOfTest(workflowsPath));
  bundles.set(workflowsPath, bundle);
  return bundle;
}

let packageBundle: Promise<string> | undefined;

/** File of the package's own bundle, for workers in other processes: one test has one, whatever becomes of the sources. */
export function testBundlePath(): Promise<string> {
  return (packageBundle ??= bundleOfPackage());
}

/** Named by the SDK's versions and the code: a bundle needs the exact SDK of its worker. */
async function bundleOfPackage(): Promise<string> {
  const { codePath } = await cached(
    'workflows',
    JSON.stringify([await sdkVersions(), await workflowDigest()]),
    packagedWorkflows(),
  );
  return codePath;
}

async function bundleOfTest(workflowsPath: string): Promise<TestBundle> {
  // A project elsewhere brings packages of its own, and is gone after its test: nothing of it is kept.
  if (path.relative(TESTS, workflowsPath).startsWith('..')) return bundleOf(workflowsPath);
  const folder = path.dirname(workflowsPath);
  const files = readdirSync(folder).sort();
  const texts = files.map((name) => [name, readFileSync(path.join(folder, name), 'utf8')]);
  return cached(
    'test-workflows',
    JSON.stringify([await testBundlePath(), workflowsPath, texts]),
    workflowsPath,
  );
}

async function cached(
  name: string,
  of: string,
  workflowsPath: string,
): Promise<{ readonly codePath: string }> {
  const hash = createHash('sha256').update(of).digest('hex').slice(0, 16);
  const codePath = path.join(CACHE, `${name}-${hash}.js`);
  if (existsSync(codePath)) return { codePath };
  const { code } = await bundleOf(workflowsPath);
  mkdirSync(CACHE, { recursive: true });
  // Renamed when complete, because another process may write the same file.
  writeFileSync(`${codePath}.${process.pid}`, code);
  renameSync(`${codePath}.${process.pid}`, codePath);
  return { codePath };
}

async function bundleOf(workflowsPath: string): Promise<{ readonly code: string }> {
  const { workflowBundle } = await bundledWorkflows({ workflowsPath });
  return workflowBundle as { readonly code: string };
}
