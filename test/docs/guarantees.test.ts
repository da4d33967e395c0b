import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import {
  COMMITTED,
  readPromises,
  readResults,
  ROOT,
  shortcomings,
  suiteProofs,
} from '../../scripts/proof-results';
import { LIMITS, suiteOf, suites } from '../../scripts/verify-deep';

const data = readPromises();
const proofs = suiteProofs(data);
const inRoot = (file: string): string => path.join(ROOT, file);

/** The points of failure that have a number: 1 to 37, 16b and 18b. */
const NUMBERS = Array.from({ length: 37 }, (_, index) => String(index + 1)).flatMap((row) =>
  ['16', '18'].includes(row) ? [row, `${row}b`] : [row],
);

describe('docs/guarantees.md', () => {
  it('is what npm run guarantees writes', async () => {
    await promisify(execFile)(process.execPath, [inRoot('scripts/write-guarantees.js'), '--check']);
  });

  it('rests on the assumptions of docs/created-once.md, in its words', () => {
    const readme = readFileSync(inRoot('docs/created-once.md'), 'utf8').replace(/\s+/g, ' ');
    for (const [id, text] of Object.entries(data.assumptions)) expect(readme).toContain(`**${id}** ${text}`);
    const used = data.promises.flatMap(({ assumes }) => assumes);
    expect([...new Set(used)].sort()).toEqual(Object.keys(data.assumptions).sort());
  });

  it('has every point of failure once, in order', () => {
    expect(data.rows.map(({ row }) => row)).toEqual(NUMBERS);
  });

  it.each([
    ...new Set([
      ...data.rows.flatMap(({ where }) => where),
      ...data.promises.flatMap((one) => one.proofs.map(({ test }) => test)),
    ]),
  ])('names %s, which exists', (file) => {
    expect(existsSync(inRoot(file))).toBe(true);
  });

  it.each(data.rows.map(({ row, where }) => [row, where] as const))(
    'proves point %s somewhere',
    (_, where) => {
      expect(where.length).toBeGreaterThan(0);
    },
  );
});

describe('the suites', () => {
  const files = readdirSync(inRoot('test/proof')).filter((name) => name.endsWith('.test.ts'));
  const names = [...new Set(files.map((name) => suiteOf(name.replace('.test.ts', ''))))];

  it.each(names)('%s proves a promise', (name) => {
    expect(proofs.some(({ suite }) => suite === name || suite.startsWith(`${name}/`))).toBe(true);
  });

  it.each(names)('%s has a limit of time', (name) => {
    expect(LIMITS).toHaveProperty([name]);
  });

  it('are through in four hours', () => {
    expect(suites().reduce((sum, { minutes }) => sum + minutes, 0)).toBeLessThanOrEqual(240);
  });
});

describe('what the suites have counted', () => {
  const results = { change: readResults(COMMITTED, 'change'), deep: readResults(COMMITTED, 'deep') };

  /** Before a release only: they search at random, in minutes, or need what not every machine has. */
  const deepOnly = [
    'mutation',
    'kill-random',
    'campaign-kills',
    'campaign-resets',
    'rolling-upgrade',
    'shared-polling',
    'temporal-postgres',
  ];

  it.each(
    proofs.filter(({ suite }) => !deepOnly.includes(suite)).map((proof) => [proof.suite, proof] as const),
  )('%s keeps its promise with every change', (_, proof) => {
    expect(shortcomings(proof, results.change.get(proof.suite), 'change')).toEqual([]);
  });

  it.each(proofs.map((proof) => [proof.suite, proof] as const))('%s keeps it when run deep', (_, proof) => {
    const counts = results.deep.get(proof.suite);
    if (counts !== undefined) expect(shortcomings(proof, counts, 'deep')).toEqual([]);
  });
});

describe('a suite falls short', () => {
  const proof = {
    suite: 's',
    test: 't',
    figures: ['runs'],
    zero: ['lost'],
    atLeast: { change: { runs: 10 } },
  };

  it.each([
    [undefined, ['s (change) has not finished a run']],
    [{ runs: 10, lost: 0 }, []],
    [{ runs: 9, lost: 0 }, ['s (change): 9 runs, not 10']],
    [{ runs: 10, lost: 1 }, ['s (change): 1 lost, not 0']],
    [{ runs: 10 }, ['s (change) does not report a count of lost']],
  ])('by %j', (counts, expected) => {
    expect(shortcomings(proof, counts, 'change')).toEqual(expected);
  });
});
