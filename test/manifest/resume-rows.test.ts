import { type RowSelection } from '../../src/domain/campaign/plan';
import { NO_MONEY, ROW_OUTCOMES } from '../../src/domain/campaign/results';
import {
  type CampaignRow,
  type CampaignRowResult,
  type LedgerLine,
  type RowOutcome,
} from '../../src/domain/campaign/row';
import { rowCreationKey } from '../../src/domain/creation-key';
import { type IsBought } from '../../src/manifest/previous-results';
import { contentOf } from '../../src/manifest/validate-rows';
import { CAMPAIGN, PlanHarness } from './plan-harness';

const text = (prompt: string) => `id,model,prompt,duration\nr,cine-1,${prompt},4\n`;

const contentFor = (prompt: string) => {
  const request = { model: 'cine-1', prompt, durationSeconds: 4 };
  return { content: contentOf({ operation: 'create_video', request }, undefined) };
};
const old = contentFor('old');
const changed = contentFor('new');

describe('a row with an earlier result', () => {
  let harness: PlanHarness;
  beforeAll(async () => {
    harness = await PlanHarness.open();
  });
  afterAll(() => harness.close());

  const line = (
    own: Partial<LedgerLine> = {},
    row: Pick<CampaignRow, 'content' | 'rebought'> = old,
  ): LedgerLine => ({
    attempt: 0,
    creationKey: rowCreationKey(CAMPAIGN, { ...row, key: 'r' }, own.attempt ?? 0),
    taskId: 'task-1',
    outcome: 'failed',
    estimate: 200_000,
    actual: null,
    state: 'needs_review',
    ...own,
  });
  const result = (
    outcome: RowOutcome,
    ledger: readonly LedgerLine[],
    own: Partial<CampaignRowResult> = {},
  ): CampaignRowResult => ({
    row: 0,
    line: 2,
    key: 'r',
    content: old.content,
    generation: 0,
    page: 0,
    index: 0,
    operation: 'create_video',
    model: 'cine-1',
    outcome,
    attempt: ledger.at(-1)?.attempt ?? 0,
    taskId: ledger.at(-1)?.taskId ?? null,
    account: null,
    artifacts: [],
    requested: { durationSeconds: 4, resolution: null, referenceMode: 'none' },
    warnings: [],
    ledger,
    startedAt: null,
    createdAt: null,
    finishedAt: '2026-01-01T00:00:00.000Z',
    polls: 0,
    ...own,
  });

  async function replan(
    results: readonly (readonly CampaignRowResult[])[],
    options: {
      readonly prompt?: string;
      readonly select?: RowSelection;
      readonly rebuyChanged?: boolean;
      readonly isBought?: IsBought;
    } = {},
  ) {
    const { prompt = 'old', select = { rows: 'missing' }, rebuyChanged = false, isBought } = options;
    const previous = await harness.results(...results);
    const plan = await harness.plan(text(prompt), {
      previous,
      select,
      rebuyChanged,
      generation: 1,
      ...(isBought !== undefined && { isBought }),
    });
    return { plan, row: (await harness.rows(plan))[0] };
  }

  const none = line({ state: 'none', taskId: null });
  /** Outcome, books, attempt at which `missing` goes on: undefined when the result stands. */
  const missing: readonly (readonly [string, CampaignRowResult, number | undefined])[] = [
    ['completed', result('completed', [line({ state: 'settled' })]), undefined],
    ['failed', result('failed', [line()]), undefined],
    ['results_lost', result('results_lost', [line()]), undefined],
    ['task_unknown', result('task_unknown', [line()]), undefined],
    ['still_running', result('still_running', [line({ state: 'reserved', attempt: 2 })]), 2],
    ['content_unavailable', result('content_unavailable', [line()]), 0],
    ['unconfirmed', result('unconfirmed', [line({ state: 'reserved', taskId: null })]), 0],
    ['cancelled with a task', result('cancelled', [line({ state: 'reserved' })]), 0],
    ['cancelled after a refusal', result('cancelled', [none]), 1],
    ['cancelled before anything', result('cancelled', []), 0],
    ['skipped before anything', result('skipped_budget', []), 0],
    ['skipped after a failure', result('skipped_budget', [line()]), 1],
    ...['retry_later', 'not_sent', 'credentials', 'quota', 'account_not_configured', 'capacity'].map(
      // The journal lets the same key be sent again: not every one of these was asked what it holds.
      (reason) => [`rejected: ${reason}`, result('rejected', [none], { reason }), 0] as const,
    ),
    ...['moderation', 'invalid_request', 'declared_lost', 'creation_key_conflict'].map(
      (reason) => [`rejected: ${reason}`, result('rejected', [none], { reason }), undefined] as const,
    ),
  ];

  it.each(missing)(
    '%s: resumed again only when it is missing, and never under a new key when it may be bought',
    async (_name, before, attempt) => {
      const { plan, row } = await replan([[before]]);
      expect(row?.attempt).toBe(attempt);
      if (attempt === undefined) expect(plan).toMatchObject({ planned: 0, done: 1 });
      else expect(row?.was).toEqual({ outcome: before.outcome, ledger: before.ledger });
      expect(plan.refused).toBeUndefined();
    },
  );

  it.each(missing)(
    '%s: an attempt of which no results tell is collected if the journal says that it was bought',
    async (_name, before, attempt) => {
      const asked: unknown[] = [];
      const isBought: IsBought = async (row) => {
        asked.push(row);
        return true;
      };
      const { plan, row } = await replan([[before]], { isBought });
      const { outcome, ledger } = before;
      // Nothing new is ordered of what is completed; what is resumed anyway is looked up with its page.
      if (outcome === 'completed' || attempt !== undefined) return expect(asked).toEqual([]);
      const was = { outcome, ledger };
      expect(asked).toEqual([{ key: 'r', content: old.content, attempt: 1, was }]);
      expect(row).toMatchObject({ attempt: 1, was });
      // It is paid for, whatever its model costs now.
      expect(plan).toMatchObject({ planned: 1, done: 0, estimate: 0, models: [] });
      const unbought = await replan([[before]], { isBought: () => Promise.resolve(false) });
      expect(unbought.plan).toMatchObject({ planned: 0, done: 1 });
    },
  );

  it('a text that was bought after another one is collected too, though nobody says that changed rows are bought again', async () => {
    const before = result('completed', [line({ state: 'settled' })]);
    const asked: unknown[] = [];
    const isBought: IsBought = async (row) => {
      asked.push(row);
      return true;
    };
    const { plan, row } = await replan([[before]], { prompt: 'new', isBought });
    const was = { outcome: 'completed', ledger: before.ledger };
    expect(asked).toEqual([{ key: 'r', content: changed.content, rebought: true, attempt: 0, was }]);
    expect(row).toMatchObject({ attempt: 0, rebought: true, was });
    expect(row?.changed).toBeUndefined();
    expect(plan).toMatchObject({ planned: 1, changed: { rows: 0 }, estimate: 0 });
    const unbought = await replan([[before]], { prompt: 'new', isBought: () => Promise.resolve(false) });
    expect(unbought.row).toMatchObject({ changed: true });
  });

  it('every outcome is in the table', () => {
    const named = new Set(missing.map(([, { outcome }]) => outcome));
    expect(ROW_OUTCOMES.filter((outcome) => !named.has(outcome))).toEqual(['changed']);
  });

  it('what has a task already costs nothing more; what has none counts', async () => {
    const running = await replan([[result('still_running', [line({ state: 'reserved' })])]]);
    expect(running.plan).toMatchObject({
      planned: 1,
      estimate: 0,
      models: [],
      currency: 'USD',
      started: { rows: 1, estimate: 200_000, unpriced: 0 },
      booked: { ...NO_MONEY, reserved: 200_000, estimate: 200_000 },
    });
    const unclear = await replan([[result('unconfirmed', [line({ state: 'reserved', taskId: null })])]]);
    expect(unclear.plan).toMatchObject({ planned: 1, estimate: 200_000, started: { rows: 0 } });
  });

  it('[C1.5] what earlier attempts of the rows that are resumed may have cost stands beside the estimate', async () => {
    const ledger = [
      line(),
      line({ attempt: 1, state: 'settled' }),
      line({ attempt: 2, state: 'none' }),
      line({ attempt: 3, estimate: null }),
    ];
    const retried = await replan([[result('failed', ledger)]], { select: { rows: 'retry' } });
    expect(retried.plan).toMatchObject({
      estimate: 200_000,
      started: { rows: 0, estimate: 0, unpriced: 0 },
      booked: { settled: 200_000, reserved: 0, needsReview: 200_000, unknown: 1 },
    });
    const standing = await replan([[result('failed', ledger)]]);
    expect(standing.plan).toMatchObject({ done: 1, estimate: 0, booked: NO_MONEY });
  });

  it('what may be bought is collected although the model is gone from the configuration', async () => {
    const previous = await harness.results([result('still_running', [line({ state: 'reserved' })])]);
    const models = { lookup: () => Promise.resolve({ found: 'refused' as const, known: [] }) };
    const plan = await harness.plan(text('old'), { previous, models });
    expect(plan).toMatchObject({ planned: 1, invalid: 0 });
    const finished = await harness.results([result('completed', [line()])]);
    expect(await harness.plan(text('old'), { previous: finished, models })).toMatchObject({
      done: 1,
      invalid: 0,
    });
  });

  it.each(ROW_OUTCOMES)(
    'retry gives a row that was %s a new attempt, when it is asked for',
    async (outcome) => {
      const before = [[result(outcome, [line({ attempt: 3 })])]];
      const asked = await replan(before, { select: { rows: 'retry', outcomes: [outcome] } });
      if (outcome === 'changed') expect(asked.row).toMatchObject({ changed: true });
      else expect(asked.row?.attempt).toBe(4);
      const byDefault = await replan(before, { select: { rows: 'retry' } });
      expect(byDefault.plan.planned).toBe(outcome === 'failed' || outcome === 'rejected' ? 1 : 0);
    },
  );

  it('again keeps the key of what has one, and heeds the keys that are named', async () => {
    const before = [[result('unconfirmed', [line({ attempt: 1, state: 'reserved', taskId: null })])]];
    const select = { rows: 'again', outcomes: ['unconfirmed'] } as const;
    expect((await replan(before, { select })).row?.attempt).toBe(1);
    expect((await replan(before, { select: { ...select, keys: ['r'] } })).row?.attempt).toBe(1);
    expect((await replan(before, { select: { ...select, keys: ['s'] } })).plan).toMatchObject({
      planned: 0,
      done: 1,
    });
    const rejected = [[result('rejected', [none], { reason: 'declared_lost' })]];
    expect((await replan(rejected, { select: { rows: 'again', outcomes: ['rejected'] } })).row?.attempt).toBe(
      0,
    );
  });

  it('rows without a result are no matter of retry and again', async () => {
    for (const select of [{ rows: 'retry' }, { rows: 'again', outcomes: ROW_OUTCOMES }] as const) {
      const { plan } = await replan([], { select });
      expect(plan).toMatchObject({ rows: 1, planned: 0, done: 0 });
      expect(plan.refused).toBeUndefined();
    }
  });

  it('a bought row whose text changed is shown and not bought', async () => {
    for (const before of [result('completed', [line({ state: 'settled' })]), result('failed', [line()])]) {
      const { plan, row } = await replan([[before]], { prompt: 'new' });
      expect(row).toMatchObject({ changed: true, was: { outcome: before.outcome, ledger: before.ledger } });
      expect(row?.rebought).toBeUndefined();
      expect(plan).toMatchObject({ planned: 1, estimate: 0, changed: { rows: 1, keys: ['r'] } });
    }
  });

  it('and is bought under keys of its own when that is wanted', async () => {
    const before = result('completed', [line({ state: 'settled' })]);
    const { plan, row } = await replan([[before]], { prompt: 'new', rebuyChanged: true });
    expect(row).toMatchObject({ rebought: true, attempt: 0, was: { outcome: 'completed' } });
    expect(plan).toMatchObject({ planned: 1, estimate: 200_000, changed: { rows: 0 } });
    expect(rowCreationKey(CAMPAIGN, row!, row!.attempt)).toBe(
      `media-row/spring/r@${changed.content.slice(0, 12)}/0`,
    );
  });

  it('a row that was never bought takes its new text, under a key that no other text had', async () => {
    const refused = await replan([[result('rejected', [none], { reason: 'quota' })]], { prompt: 'new' });
    expect(refused.row).toMatchObject({ attempt: 1, content: changed.content });
    expect(refused.row?.rebought).toBeUndefined();
    const skipped = await replan([[result('skipped_budget', [])]], { prompt: 'new' });
    expect(skipped.row).toMatchObject({ attempt: 0, content: changed.content });
    const retried = await replan([[result('rejected', [none], { reason: 'moderation' })]], {
      prompt: 'new',
      select: { rows: 'retry' },
    });
    expect(retried.row?.attempt).toBe(1);
  });

  it('what was bought anew goes on under its own keys', async () => {
    const bought = [line({ state: 'settled' })];
    const again = { content: changed.content, rebought: true } as const;
    const running = result('still_running', [...bought, line({ state: 'reserved' }, again)], again);
    expect((await replan([[running]], { prompt: 'new' })).row).toMatchObject({ rebought: true, attempt: 0 });
    // Not bought yet: without the mark it would be taken for the old text, or go under its key.
    const skipped = result('skipped_budget', bought, again);
    expect((await replan([[skipped]], { prompt: 'new' })).row).toMatchObject({ rebought: true, attempt: 0 });
    // Told by the creation keys alone.
    const { rebought: _mark, ...unmarked } = running;
    expect((await replan([[unmarked]], { prompt: 'new' })).row).toMatchObject({ rebought: true, attempt: 0 });
  });

  it('a row that ended as changed is validated anew: by what was bought, not by what was shown', async () => {
    const before = result('still_running', [line({ state: 'reserved' })]);
    const shown = result('changed', before.ledger, { generation: 1, content: changed.content });
    expect((await replan([[before], [shown]], { prompt: 'new' })).row).toMatchObject({ changed: true });
    const back = await replan([[before], [shown]]);
    expect(back.row).toMatchObject({ attempt: 0, was: { outcome: 'changed' } });
    expect(back.row?.changed).toBeUndefined();
    const alone = await replan([[shown]], { prompt: 'new' });
    expect(alone.row).toMatchObject({ changed: true });
  });

  it('the highest generation counts, and of equal ones the last line', async () => {
    const done = (generation: number) => result('completed', [line()], { generation });
    const open = (generation: number) =>
      result('still_running', [line({ state: 'reserved' })], { generation });
    const planned = async (...lines: CampaignRowResult[]) =>
      (await replan(lines.map((one) => [one]))).plan.planned;
    expect(await planned(open(0), done(1))).toBe(0);
    expect(await planned(done(1), open(0))).toBe(0);
    expect(await planned(open(0), done(0))).toBe(0);
    expect(await planned(done(0), open(0))).toBe(1);
    expect(await planned(done(0), open(2), done(1))).toBe(1);
  });

  it('a result that is missing stops the plan: a bought row must not look new', async () => {
    const previous = await harness.results([result('completed', [line()])]);
    const broken = { ...previous, segments: [...previous.segments, 'b'.repeat(64)] };
    await expect(harness.plan(text('old'), { previous: broken })).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});
