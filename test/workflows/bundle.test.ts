import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';
import { shippedForm } from '../../scripts/workflow-bundle';

/** What is published: compiled code without comments. */
const WORKFLOWS = join(__dirname, '..', '..', 'lib', 'workflows', 'index.js');
const SHIPPED = join(__dirname, '..', '..', 'lib', 'workflow-bundle', 'workflows.js');
const FIGURES = join(__dirname, '..', '..', 'docs', 'figures.md');
/** Limits of docs/adr/0007 and docs/adr/0024, in bytes without the source map. */
const LIMITS = { ours: 360_000, inAll: 890_000, oursShipped: 210_000, inAllShipped: 400_000 };

describe('the workflow bundle', () => {
  let code: string;
  let bare: string;
  let shipped: string;
  let ours: number;
  let oursShipped: number;

  beforeAll(async () => {
    [code, bare] = await Promise.all([bundle(WORKFLOWS), bundle(require.resolve('./bare-workflow'))]);
    shipped = readFileSync(SHIPPED, 'utf8');
    ours = sizeOf(code) - sizeOf(bare);
    oursShipped = sizeOf(shipped) - sizeOf(await shippedForm(bare));
  });

  it('holds at most 360 KB beside the SDK, and 890 KB in all', () => {
    expect(ours).toBeLessThan(LIMITS.ours);
    expect(sizeOf(code)).toBeLessThan(LIMITS.inAll);
  });

  it('holds at most 210 KB beside the SDK, and 400 KB in all, as it is shipped', () => {
    expect(oursShipped).toBeLessThan(LIMITS.oursShipped);
    expect(sizeOf(shipped)).toBeLessThan(LIMITS.inAllShipped);
  });

  it('is as small as the figures page says', () => {
    const figures = readFileSync(FIGURES, 'utf8');
    const said = (row: string): number =>
      1_000 * Number(new RegExp(`${row}[^|]*\\| (\\d+) KB`).exec(figures)?.[1]);
    // The SDK's patch releases and the last edit of a sentence need no new figure.
    expect(Math.abs(said('Workflow bundle beside the SDK') - ours)).toBeLessThan(10_000);
    expect(Math.abs(said('Shipped workflow bundle beside the SDK') - oursShipped)).toBeLessThan(10_000);
  });

  it('holds no package that the SDK does not bring itself, and no node: module', () => {
    expect([...packages(code)].sort()).toEqual([...packages(bare)].sort());
    expect(code).not.toMatch(/require\(["']node:/);
  });
});

async function bundle(workflowsPath: string): Promise<string> {
  const { code } = await bundleWorkflowCode({ workflowsPath, logger: quiet() });
  return code;
}

/** Bytes of the code, without its source map. */
function sizeOf(code: string): number {
  return Buffer.byteLength(code.slice(0, code.lastIndexOf('//# sourceMappingURL=')));
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
