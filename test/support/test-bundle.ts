import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { bundledWorkflows, cachedWorkflowBundle } from '../../src/workflow-bundle';

interface TestBundle {
  readonly codePath: string;
}

const CACHE = path.resolve(__dirname, '../../node_modules/.cache/temporal-media');
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

async function bundleOfTest(workflowsPath: string): Promise<TestBundle> {
  const folder = path.dirname(workflowsPath);
  // The name of the package's own bundle says which version of its code and of the SDK this one holds.
  const hash = createHash('sha256')
    .update((await testBundle()).codePath)
    .update(workflowsPath);
  for (const name of readdirSync(folder).sort())
    hash.update(name).update(readFileSync(path.join(folder, name)));
  const codePath = path.join(CACHE, `test-workflows-${hash.digest('hex').slice(0, 16)}.js`);
  if (existsSync(codePath)) return { codePath };
  const { workflowBundle } = await bundledWorkflows({ workflowsPath });
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(`${codePath}.${process.pid}`, (workflowBundle as { readonly code: string }).code);
  renameSync(`${codePath}.${process.pid}`, codePath);
  return { codePath };
}
