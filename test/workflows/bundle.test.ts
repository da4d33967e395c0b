import { bundleWorkflowCode } from '@temporalio/worker';
import { join } from 'node:path';

/** What is published: compiled code without comments. */
const WORKFLOWS = join(__dirname, '..', '..', 'lib', 'workflows', 'index.js');

describe('the workflow bundle', () => {
  let code: string;

  beforeAll(async () => {
    ({ code } = await bundleWorkflowCode({ workflowsPath: WORKFLOWS, logger: quiet() }));
  });

  it('is smaller than 600 KB without its source map', () => {
    const withoutMap = code.replace(/\/\/# sourceMappingURL=.*$/s, '');
    expect(Buffer.byteLength(withoutMap)).toBeLessThan(600 * 1000);
  });

  it('holds neither zod nor undici nor any node: module', () => {
    expect(code).not.toMatch(/node_modules\/(zod|undici)\//);
    expect(code).not.toMatch(/require\(["']node:/);
  });
});

function quiet() {
  const nothing = () => undefined;
  return { log: nothing, trace: nothing, debug: nothing, info: nothing, warn: nothing, error: console.error };
}
