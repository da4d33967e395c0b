import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';

/** What is published: compiled code without comments. */
const WORKFLOWS = join(__dirname, '..', '..', 'lib', 'workflows', 'index.js');
const FIGURES = join(__dirname, '..', '..', 'docs', 'figures.md');
/** Limits of docs/adr/0007, in bytes without the source map. */
const OURS = 300_000;
const IN_ALL = 840_000;

describe('the workflow bundle', () => {
  let code: string;
  let bare: string;

  beforeAll(async () => {
    [code, bare] = await Promise.all([bundle(WORKFLOWS), bundle(require.resolve('./bare-workflow'))]);
  });

  it('holds at most 300 KB beside the SDK, and 840 KB in all', () => {
    const size = Buffer.byteLength(code);
    const sdk = Buffer.byteLength(bare);
    expect(size - sdk).toBeLessThan(OURS);
    expect(size).toBeLessThan(IN_ALL);
  });

  it('is as small as the figures page says', () => {
    const said = /Workflow bundle beside the SDK[^|]*\| (\d+) KB/.exec(readFileSync(FIGURES, 'utf8'));
    const ours = Buffer.byteLength(code) - Buffer.byteLength(bare);
    // The SDK's patch releases and the last edit of a sentence need no new figure.
    expect(Math.abs(Number(said?.[1]) - ours / 1000)).toBeLessThan(10);
  });

  it('holds no package that the SDK does not bring itself, and no node: module', () => {
    expect([...packages(code)].sort()).toEqual([...packages(bare)].sort());
    expect(code).not.toMatch(/require\(["']node:/);
  });
});

async function bundle(workflowsPath: string): Promise<string> {
  const { code } = await bundleWorkflowCode({ workflowsPath, logger: quiet() });
  return code.replace(/\/\/# sourceMappingURL=.*$/s, '');
}

/** Names of the npm packages whose modules are in the bundle. */
function packages(code: string): Set<string> {
  return new Set(
    [...code.matchAll(/node_modules\/((?:@[\w.-]+\/)?[\w.-]+)\//g)].map((match) => match[1] ?? ''),
  );
}

function quiet() {
  const nothing = () => undefined;
  return { log: nothing, trace: nothing, debug: nothing, info: nothing, warn: nothing, error: console.error };
}
