import { campaignNotices, limitNotices, limitWindows } from '../../packages/notices/src/money-notices';
import { makeNotice, type Notice } from '../../packages/notices/src/notice';
import { type CreateJournal, NO_JOURNAL } from '../../src/domain/journal';
import { stateOf } from '../../src/domain/paid-log';
import { intentEntry } from '../support/log-entries';

const PLACE = { namespace: 'default', taskQueue: 'media' };
const NOW = Date.parse('2026-11-29T12:30:00Z');

describe('what makes a notice', () => {
  const state = (counts: object, budget: object | null = null, batches: readonly object[] = []) => ({
    ...{ startedAt: '2026-11-29T12:00:00.000Z', counts, budget, batches },
  });
  const budget = {
    total: { microUnits: 100, currency: 'USD' },
    spent: 50,
    reserved: 30,
    review: 0,
    free: 20,
  };
  const typesOf = (value: unknown) =>
    campaignNotices(PLACE, 'films', value, NOW).map(
      ({ type, data }) => `${type} ${JSON.stringify(data['percent'] ?? data['rows'])}`,
    );

  it('a campaign: rows by their magnitude, and shares of its budget once its batches have reported', () => {
    expect(typesOf(state({ unconfirmed: 7 }))).toEqual(['call.unconfirmed 7']);
    const ids = [1, 9, 10, 99, 100].map(
      (rows) => campaignNotices(PLACE, 'films', state({ unconfirmed: rows }), NOW)[0]?.id,
    );
    expect([ids[0] === ids[1], ids[1] === ids[2], ids[2] === ids[3], ids[3] === ids[4]]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect(typesOf(state({}, budget))).toEqual(['budget.reached 80']);
    expect(typesOf(state({}, budget, [{ lastReportAt: null }]))).toEqual([]);
    expect(typesOf(state({ skipped_budget: 1 }, { ...budget, spent: 0, reserved: 0 }))).toEqual([
      'budget.reached 100',
    ]);
  });

  it.each([
    undefined,
    null,
    7,
    'text',
    [],
    { counts: 7, budget: 'x', batches: 9 },
    { counts: { unconfirmed: 'many' } },
    state({ unconfirmed: -1 }, { total: null }, []),
  ])('a state or result that is none of ours says nothing: %j', (value) => {
    expect(typesOf(value)).toEqual([]);
  });

  it('a spend limit: in each window since the last time, and again if the limit is raised', async () => {
    const spent: Record<string, readonly number[]> = {
      'spend/studio/USD/2026-11-29T10': [20, 85],
      'spend/studio/USD/2026-11-29T11': [40],
      'spend/studio/USD/2026-11-29T12': [10, 60, 100],
      'spend/studio/tenant=acme/USD/2026-11-29T08': [90],
    };
    const journal: CreateJournal = {
      ...NO_JOURNAL,
      readRecord: async ({ name }, n) => {
        const sum = spent[name]?.[n];
        return sum === undefined ? null : { v: 1, kind: 'spend', nonce: `${n}`, at: '', spent: sum };
      },
    };
    const per = 'hour' as const;
    const read = async (microUnits: number, full: readonly string[] = [], place = PLACE, from = journal) => {
      const account = {
        ...{ credential: 'studio', spendLimit: { microUnits, currency: 'USD', per } },
        limits: [
          { label: 'tenant', each: 100, values: {}, currency: 'USD', per, whenReached: 'wait' as const },
        ],
      };
      const search = {
        ...{ since: Date.parse('2026-11-29T10:59:00Z'), now: NOW },
        full: full.map((endsAt) => ({ payer: 'studio', per, endsAt })),
        sends: stateOf([
          intentEntry({
            account: 'studio@00000000',
            at: '2026-11-29T08:30:00.000Z',
            labels: { tenant: 'acme' },
          }),
        ]).sends,
      };
      const notices: Notice[] = [];
      for (const window of limitWindows([account], search))
        notices.push(...(await limitNotices(from, place, window, search)));
      return notices;
    };
    const first = await read(100);
    expect(first.map(({ data }) => [data['window'], data['percent']])).toEqual([
      ['2026-11-29T10', 80],
      ['2026-11-29T12', 80],
      ['2026-11-29T12', 100],
      // Of a label value that only the journal knows, in the window of its send.
      ['2026-11-29T08', 80],
    ]);
    expect(first.at(-1)?.data['account']).toBe('studio/tenant=acme');
    expect(await read(100)).toEqual(first);
    const ids = (notices: readonly Notice[]) => notices.map(({ id }) => id);
    expect(ids(await read(100, [], { ...PLACE, taskQueue: 'other' }))).toEqual(ids(first));
    const identity = async () => ({ journalId: 'of another journal', hostId: null });
    for (const id of ids(await read(100, [], PLACE, { ...journal, identity })))
      expect(ids(first)).not.toContain(id);
    const raised = await read(125);
    expect(raised.map(({ data }) => data['percent'])).toEqual([80, 80]);
    expect(first.map(({ id }) => id)).not.toContain(raised[0]?.id);
    // A call that does not fit ends the limit before the sum does, in the window that it did not fit in.
    const full = await read(1_000, ['2026-11-29T12:00:00.000Z']);
    expect(full.map(({ data }) => [data['window'], data['percent']])).toEqual([
      ['2026-11-29T11', 100],
      ['2026-11-29T08', 80],
    ]);
  });

  it('an id says nothing about what happened or who found it, and differs by namespace', () => {
    const notice = makeNotice(PLACE, 'call.ended', ['film-7', 'run'], 0, {});
    expect(notice.id).toMatch(/^msg_[0-9a-f]{32}$/);
    expect(makeNotice({ ...PLACE, taskQueue: 'other' }, 'call.ended', ['film-7', 'run'], 0, {}).id).toBe(
      notice.id,
    );
    expect(makeNotice({ ...PLACE, namespace: 'other' }, 'call.ended', ['film-7', 'run'], 0, {}).id).not.toBe(
      notice.id,
    );
  });
});
