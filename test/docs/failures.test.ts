import { readFileSync } from 'node:fs';
import path from 'node:path';
import { FAILURE_TABLE, failureRow, type FailureRow } from '../../src/domain/failure-table';

/** Rows of the table in docs/failures.md, in its order. */
function documentedRows(): FailureRow[] {
  const text = readFileSync(path.resolve(__dirname, '..', '..', 'docs', 'failures.md'), 'utf8');
  return text
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => {
      const cells = line.split('|').slice(1, -1);
      const [type, meaning, retryable, taskMayExist, moneyMayBeOwed, hint] = cells.map((cell) => cell.trim());
      return {
        type: type?.slice(1, -1),
        meaning,
        retryable,
        taskMayExist,
        moneyMayBeOwed,
        hint,
      } as FailureRow;
    });
}

describe('docs/failures.md', () => {
  const documented = documentedRows();

  it.each(FAILURE_TABLE.map((row) => [row.type, row] as const))(
    'shows %s as the code has it',
    (type, row) => {
      expect(documented.filter((other) => other.type === type)).toEqual([row]);
    },
  );

  it('shows nothing that the code does not have, in the same order', () => {
    expect(documented.map(({ type }) => type)).toEqual(FAILURE_TABLE.map(({ type }) => type));
  });
});

describe('the failure table', () => {
  it('has one row per type, each with a sentence and a hint', () => {
    expect(new Set(FAILURE_TABLE.map(({ type }) => type)).size).toBe(FAILURE_TABLE.length);
    for (const row of FAILURE_TABLE)
      expect([row.meaning, row.hint]).toEqual([expect.stringMatching(/\.$/), expect.stringMatching(/\.$/)]);
  });

  it('finds the row of an outcome by its reason or the kind of its error', () => {
    expect(failureRow({ outcome: 'completed' })).toBeUndefined();
    expect(failureRow({ outcome: 'failed', error: { kind: 'moderation' } })?.type).toBe('failed/moderation');
    expect(failureRow({ outcome: 'rejected', reason: 'quota' })?.type).toBe('rejected/quota');
    expect(failureRow({ outcome: 'results_lost', reason: 'storage' })?.type).toBe('results_lost');
    expect(failureRow({ outcome: 'unconfirmed' })?.type).toBe('unconfirmed');
  });

  it('[C7.10] promises only of a rejection that no money is owed', () => {
    const free = FAILURE_TABLE.filter(({ moneyMayBeOwed }) => moneyMayBeOwed === 'no');
    expect(free.length).toBeGreaterThan(0);
    expect(free.every(({ type }) => type.startsWith('rejected/'))).toBe(true);
  });

  it('[C7.8] tells capacity from moderation in every outcome that knows both', () => {
    for (const outcome of ['failed', 'rejected']) {
      const of = (word: string) => FAILURE_TABLE.find(({ type }) => type === `${outcome}/${word}`);
      expect(of('capacity')?.retryable).toBe('later');
      expect(of('moderation')?.retryable).toBe('no');
    }
  });

  it('[C7.12] blames nobody', () => {
    for (const { meaning, hint } of FAILURE_TABLE)
      expect(`${meaning} ${hint}`).not.toMatch(/fault|blame|provider/i);
  });
});
