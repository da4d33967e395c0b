import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const MIB = 1024 * 1024;
/** `MANIFEST_ROWS=1000000` plans a million; it takes about a minute for each case. */
const ROWS = Number(process.env['MANIFEST_ROWS'] ?? 100_000);

describe('a manifest of many rows', () => {
  it.each([
    ['csv', 'ids'],
    ['jsonl', 'none'],
  ])('is planned in the memory of a small one: %s with %s', async (format, ids) => {
    const script = join(__dirname, 'large-plan.js');
    const { stdout } = await promisify(execFile)(process.execPath, [script, String(ROWS), format, ids]);
    const { planned, pages, growth } = JSON.parse(stdout) as Record<'planned' | 'pages' | 'growth', number>;
    expect([planned, pages]).toEqual([ROWS, Math.ceil(ROWS / 100)]);
    // Tables of keys grow with the rows, texts must not: all prompts of 100,000 rows are 26 MB, pages and objects thrice that.
    expect(growth).toBeLessThan(64 * MIB + Math.max(0, ROWS - 100_000) * 64);
  });
});
