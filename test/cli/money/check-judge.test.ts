import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { callsOf } from '../../../packages/cli/src/money/calls';
import { type CheckFinding, type CheckScope, judgeSend } from '../../../packages/cli/src/money/check-judge';
import { LineBook } from '../../../packages/cli/src/money/check-lines';
import { type Invoice, readInvoice } from '../../../packages/cli/src/money/read-invoice';
import { type LogEntry } from '../../../src/domain/log-entries';
import { answers } from '../../domain/create-answers';
import { makeVideoTask } from '../../domain/make-video-task';
import { answerEntry, billEntry, intentEntry } from '../../support/log-entries';

/** What can become of a call: the amounts of its lines, what is found, and whether it gets a bill. */
const FATES = {
  good: [['0.10'], null, true],
  credited_again: [['0.10', '0.10', '-0.10'], null, true],
  missing: [[], 'not_billed', false],
  duplicate: [['0.10', '0.10'], 'duplicate', true],
  dear: [['0.11'], 'amount', true],
  credited: [['0.10', '(0.04)'], 'amount', true],
  failed: [['0.10'], 'failed', true],
  failed_free: [['0.10', '-0.10'], 'amount', true],
  foreign: [['0.10'], 'unknown', false],
  staging: [['0.10'], 'other_namespace', false],
  other: [['0.10'], 'other_account', false],
  lost: [[], 'under_review', false],
  early: [[], 'under_review', false],
} as const satisfies { readonly [fate: string]: readonly [readonly string[], string | null, boolean] };

type Fate = keyof typeof FATES;

const AT = '2026-11-02T12:00:00.000Z';
const EARLY = '2026-10-02T12:00:00.000Z';

function logOf(fate: Fate, call: number): LogEntry[] {
  if (fate === 'foreign') return [];
  const account = fate === 'other' ? 'other@11111111' : 'default@00000000';
  const intent = intentEntry({
    ...{ creationKey: `key ${call}`, nonce: `send ${call}`, account },
    namespace: fate === 'staging' ? 'staging' : 'default',
    at: fate === 'early' ? EARLY : AT,
    estimate: { microUnits: 100_000, currency: 'USD' },
  });
  const video = makeVideoTask({ taskId: `task-${call}`, account });
  const answer = fate === 'lost' ? answers.unconfirmed(0) : { ...answers.created(0), video };
  return [intent, answerEntry(answer, { nonce: `send ${call}` })];
}

describe('an invoice held against logs', () => {
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'temporal-media-judge-'));
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  const read = async (lines: readonly string[]): Promise<Invoice> => {
    const file = path.join(dir, 'invoice.csv');
    await writeFile(file, ['task_id,time,amount,currency', ...lines, ''].join('\n'));
    return readInvoice(file, { columns: {}, progress: () => undefined });
  };

  async function check(fates: readonly Fate[], logs: readonly (readonly LogEntry[])[], invoice: Invoice) {
    const scope: CheckScope = {
      ...{ namespace: 'default', account: 'default', invoice, reference: 'november', corrects: undefined },
      ...{
        tolerance: { microUnits: 0, share: 0 },
        missingAreFree: false,
        mayBill: { images: false, videos: false },
        now: Date.parse(AT) + 60_000,
      },
      period: { since: Date.parse('2026-11-01'), until: Date.parse('2026-12-01') },
      failedTasks: new Set(
        fates.flatMap((fate, call) => (fate.startsWith('failed') ? [`task-${call}`] : [])),
      ),
    };
    const book = new LineBook(scope);
    const calls = logs.flatMap(callsOf);
    for (const call of calls) book.match(call, call.send.sent.namespace === 'default');
    const own = calls.filter(({ send }) => send.sent.namespace === 'default');
    const verdicts = own.map((call) => ({ call, ...judgeSend(scope, call) }));
    const ofLines = [...book.unmatched()];
    const findings = [...ofLines, ...verdicts.flatMap(({ finding }) => finding ?? [])];
    return { findings, bills: verdicts.filter(({ bill }) => bill !== null) };
  }

  const found = (findings: readonly CheckFinding[]): string[] =>
    findings
      // A call of another account is also without a bill, which is not what its line is about.
      .filter(({ finding, note }) => !(finding === 'under_review' && note.includes('--account')))
      .map(({ finding, taskId, creationKey }) => `${taskId?.slice(5) ?? creationKey?.slice(4)} ${finding}`)
      .toSorted();

  it('finds each difference once, in any order of lines and logs; bills that are recorded change nothing', async () => {
    const fates = fc.array(fc.constantFrom(...(Object.keys(FATES) as Fate[])), {
      minLength: 1,
      maxLength: 20,
    });
    await fc.assert(
      fc.asyncProperty(fates, fc.nat(), async (drawn, turn) => {
        const rotated = <T>(list: readonly T[]): T[] => {
          const by = turn % Math.max(1, list.length);
          return [...list.slice(by), ...list.slice(0, by)];
        };
        const lines = drawn.flatMap((fate, call) =>
          FATES[fate][0].map((amount) => `task-${call},${AT},${amount},USD`),
        );
        const invoice = () => read(rotated(['anchor,2026-11-02,0,USD', ...lines]));
        const logs = drawn.map((fate, call) => logOf(fate, call));
        const expected = drawn
          .flatMap((fate, call) => (FATES[fate][1] === null ? [] : [`${call} ${FATES[fate][1]}`]))
          .concat('r unknown')
          .toSorted();
        const first = await check(drawn, rotated(logs), await invoice());
        expect(found(first.findings)).toEqual(expected);
        expect(first.bills).toHaveLength(drawn.filter((fate) => FATES[fate][2]).length);
        for (const { call, bill } of first.bills) {
          const log = logs.find((one) => one[0]?.kind === 'intent' && one[0].nonce === call.send.sent.nonce);
          log?.push(billEntry({ ...bill, about: call.send.sent.nonce, reference: 'november' }));
        }
        const second = await check(drawn, logs, await invoice());
        expect(found(second.findings)).toEqual(expected);
        expect(second.bills).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it('an account may be named with or without its address', async () => {
    const { findings } = await check(['good'], [logOf('good', 0)], await read([`task-0,${AT},0.10,USD`]));
    expect(findings).toEqual([]);
  });
});
