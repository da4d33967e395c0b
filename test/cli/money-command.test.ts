import path from 'node:path';
import { createFileJournal } from '../../src/stores/journal/file-journal';
import { billEntry, intentEntry } from '../support/log-entries';
import { type CliBench, openCliBench } from './support/cli-bench';
import { type CliRun, runCli, runJson } from './support/run-cli';

const BILL = ['--reference', 'invoice 2026-11', '--reason', 'line 12', '--by', 'ada'];

interface Row {
  readonly creationKey: string;
  readonly sendId: string;
  readonly taskId: string | null;
  readonly since: string;
  readonly why: string;
  readonly estimate: { readonly microUnits: number; readonly currency: string };
}

describe('money', () => {
  let bench: CliBench;
  /** Commands that open the journal alone: there is no server at their address. */
  let offline: NodeJS.ProcessEnv;
  let ids: Record<'paid' | 'lost' | 'refused' | 'image' | 'failed', string>;
  const run = (...args: string[]): Promise<CliRun> => runCli(['money', ...args], offline);
  const json = (...args: string[]) => runJson(['money', ...args], offline);
  const out = (): string[] => ['--out', path.join(bench.dir, 'out')];
  const video = (prompt: string, id: string): Promise<CliRun> =>
    runCli(
      ['video', '--model', 'cine-1', '--duration', '2', '--prompt', prompt, '--id', id, ...out()],
      bench.workerEnv,
    );
  const review = async (...args: string[]): Promise<Row[]> =>
    (await json('review', ...args)).reply.data?.['underReview'] as Row[];
  const of = async (id: string): Promise<Row | undefined> =>
    (await review()).find(({ creationKey }) => creationKey === id);

  beforeAll(async () => {
    bench = await openCliBench({ timing: { queuedMs: 0, runningMs: 300 } });
    offline = { ...bench.clientEnv, TEMPORAL_ADDRESS: '127.0.0.1:1' };
    await bench.startWorker();
    const names = ['paid', 'lost', 'refused', 'image', 'failed'] as const;
    ids = Object.fromEntries(names.map((name) => [name, bench.server.uniqueId(name)])) as typeof ids;
    const accepted = { type: 'lose_reply', accepted: true, how: 'reset' } as const;
    await bench.sandbox.admin.addFaults([
      { operation: 'create', promptIncludes: 'a secret storm', action: accepted },
      {
        operation: 'create',
        promptIncludes: 'a secret riot',
        action: {
          type: 'status',
          status: 400,
          body: { error: { code: 'moderation_blocked', message: 'no' } },
        },
      },
    ]);
    const image = ['image', '--model', 'image-2', '--prompt', 'a secret map', '--size', '512x512'];
    const ended = await Promise.all([
      video('a secret boat', ids.paid),
      video('a secret storm', ids.lost),
      video('a secret riot', ids.refused),
      video('a secret fire [fail:moderation]', ids.failed),
      runCli([...image, '--id', ids.image, ...out()], bench.workerEnv),
    ]);
    expect(ended.map(({ code }) => code)).toEqual([0, 5, 3, 3, 0]);
  }, 300_000);
  afterAll(() => bench.close());

  test('review lists what may have cost money and has no bill, oldest first, without a word of a prompt', async () => {
    const found = await review();
    const whys = Object.fromEntries(found.map(({ creationKey, why }) => [creationKey, why]));
    expect(whys).toEqual({
      [ids.paid]: 'not_billed',
      [ids.failed]: 'not_billed',
      [ids.image]: 'not_billed',
      [ids.lost]: 'unconfirmed',
      [ids.refused]: 'rejected_after_validation',
    });
    const text = await run('review');
    expect(text.stdout).toMatch(new RegExp(`^${ids.lost} +- +default@\\S+ +cine-1 .* unconfirmed `, 'm'));
    const times = found.map(({ since }) => since);
    expect(times).toEqual(times.toSorted());
    expect(await review('--limit', '2')).toEqual(found.slice(0, 2));
    expect(await review('--until', '2020-01')).toEqual([]);
    expect(await review('--since', '1h')).toHaveLength(5);
    const lines = await run('review', '-o', 'jsonl');
    for (const { stdout, stderr } of [text, lines, await run('report', '--by', 'outcome')])
      expect(stdout + stderr).not.toMatch(/secret|sandbox-key|https?:/);
  });

  test('settle records a bill once, by key or task, and the call is no longer under review', async () => {
    const { taskId } = (await of(ids.paid))!;
    const billed = await json('settle', taskId!, '--amount', '0.35', ...BILL);
    expect([billed.code, billed.reply.data]).toEqual([
      0,
      expect.objectContaining({
        creationKey: ids.paid,
        isNew: true,
        bill: expect.objectContaining({
          ...{ microUnits: 350_000, currency: 'USD', source: 'person', by: 'ada' },
        }) as unknown,
      }),
    ]);
    const again = await json('settle', ids.paid, '--amount', '0.35USD', ...BILL);
    expect(again.reply.data).toMatchObject({ isNew: false });
    expect(await of(ids.paid)).toBeUndefined();
    const status = await runCli(['status', ids.paid], bench.clientEnv);
    expect(status.stdout).toMatch(/^Billing: .*, billed 0\.35 USD$/m);
    const shown = await runJson(['status', ids.paid], bench.clientEnv);
    expect(shown.reply.data?.['money']).toMatchObject({
      actual: { microUnits: 350_000, currency: 'USD' },
    });
    // Of two bills, the later one counts, and the earlier one cannot be entered again under its name.
    const correction = ['--reference', 'a correction', '--reason', 'the invoice was wrong', '--by', 'ada'];
    expect((await run('settle', ids.paid, '--amount', '0.40USD', ...correction)).code).toBe(0);
    const stale = await json('settle', ids.paid, '--amount', '0.35USD', ...BILL);
    expect(stale.reply.error?.message).toMatch(/a later bill is in force\. Use another reference/);
    const restored = ['--reference', 'second thoughts', ...correction.slice(2)];
    expect((await run('settle', ids.paid, '--amount', '0.35USD', ...restored)).code).toBe(0);
    // The rest stays as it was: the same id buys nothing, and returns what was bought.
    const { creates } = await bench.sandbox.admin.counters();
    expect((await video('a secret boat', ids.paid)).code).toBe(0);
    expect((await bench.sandbox.admin.counters()).creates.accepted).toBe(creates.accepted);
  });

  test('settle says what is wrong with a bill, and records nothing of it', async () => {
    const wrong = async (...args: string[]) => {
      const { code, reply } = await json('settle', ...args, ...BILL);
      return [code, reply.error?.type, reply.error?.message];
    };
    const invalid = 'rejected/invalid_request';
    expect(await wrong('nobody', '--amount', '1USD')).toEqual([
      ...[65, 'not_found'],
      `The journal has no sent call with the creation key or task id nobody in namespace ${bench.server.namespace}.`,
    ]);
    expect(await wrong(ids.lost, '--amount', '1EUR')).toEqual([
      ...[65, invalid, "--amount: must be in USD, the currency of the call's estimate."],
    ]);
    expect(await wrong(ids.lost, '--amount', 'much')).toEqual([
      65,
      invalid,
      expect.stringMatching(/0\.35USD/),
    ]);
    expect(await wrong(ids.lost, '--amount', '1', '--send', 'x')).toEqual([
      ...[65, invalid],
      expect.stringMatching(/names no send of this call\. Its sends: \S+ \(.*, unconfirmed\)/),
    ]);
    expect(await wrong(ids.paid, '--amount', '0.40USD')).toEqual([
      ...[65, invalid],
      expect.stringMatching(/already bills this send: 0\.35 USD, invoice 2026-11, by ada at /),
    ]);
    expect(await of(ids.lost)).toMatchObject({ why: 'unconfirmed' });
  });

  test('a call of unknown fate that is billed still waits for its decision, and of two sends one must be named', async () => {
    const { sendId } = (await of(ids.lost))!;
    expect((await run('settle', ids.lost, '--amount', 'none', ...BILL)).code).toBe(0);
    expect(await of(ids.lost)).toBeUndefined();
    const open = await runJson(['unconfirmed'], bench.clientEnv);
    expect(open.reply.data?.['unconfirmed']).toContainEqual(
      expect.objectContaining({ creationKey: ids.lost }),
    );
    const why = ['--reason', 'a test', '--yes'];
    expect((await runCli(['unconfirmed', 'resubmit', ids.lost, ...why], bench.clientEnv)).code).toBe(0);
    await bench.sandbox.admin.clearFaults();
    expect((await video('a secret storm', ids.lost)).code).toBe(0);
    const unnamed = await json('settle', ids.lost, '--amount', '1USD', ...BILL);
    expect(unnamed.reply.error?.message).toMatch(
      new RegExp(
        `is required, because the call was sent several times: ${sendId} \\(.*\\), \\S+ \\(.*, created\\)`,
      ),
    );
    const named = ['--send', sendId, '--reference', 'credit', '--reason', 'a test'];
    expect((await run('settle', ids.lost, '--amount', '-0.10USD', ...named)).code).toBe(0);
  });

  test('report adds up by any dimensions, in each currency, and no cell is a formula', async () => {
    const journal = createFileJournal({ root: path.join(bench.clientEnv['MEDIA_DATA_DIR']!, 'journal') });
    const key = { namespace: bench.server.namespace, creationKey: '=cmd()' };
    const estimate = { microUnits: 2_000_000, currency: 'EUR' };
    const at = '2026-01-31T23:59:59.000Z';
    await journal.append(key, 0, intentEntry({ ...key, model: '=cmd()', estimate, at }));
    await journal.append(key, 1, billEntry({ microUnits: -500_000, currency: 'EUR' }));

    const { reply } = await json('report', '--by', 'model,outcome', '--by', 'month');
    const { rows, totals } = reply.data as unknown as Record<'rows' | 'totals', Record<string, unknown>[]>;
    expect(rows).toContainEqual({
      group: { model: '=cmd()', outcome: 'unconfirmed', month: '2026-01' },
      ...{ currency: 'EUR', calls: 1, sends: 1, accepted: 0, billed: 1, unpriced: 0, underReview: 0 },
      ...{ estimate: 2_000_000, actual: -500_000, cost: -500_000 },
    });
    const usd = totals.find(({ currency }) => currency === 'USD') as Record<string, number>;
    // Four videos (one of them sent twice) and an image; a bill of 0.35, and a credit of 0.10.
    expect(usd).toMatchObject({
      calls: 5,
      sends: 6,
      accepted: 4,
      billed: 2,
      actual: 250_000,
      underReview: 4,
    });
    for (const field of ['sends', 'estimate', 'actual', 'cost', 'underReview'])
      expect(
        rows.filter(({ currency }) => currency === 'USD').reduce((sum, row) => sum + Number(row[field]), 0),
      ).toBe(usd[field]);

    const csv = await run('report', '--by', 'model', '--until', '2026-02', '--format', 'csv');
    expect(csv.stdout.split('\n')).toEqual([
      'model,calls,sends,accepted,billed,unpriced,under_review,currency,estimate,actual,cost',
      "'=cmd(),1,1,0,1,0,0,EUR,2.00,-0.50,-0.50",
      '',
    ]);
    const bare = await run('report', '--by', 'model', '--until', '2026-02', '--format', 'json');
    expect(JSON.parse(bare.stdout)).toMatchObject({ by: ['model'], rows: [{ group: { model: '=cmd()' } }] });
    const table = await run('report', '--by', 'day', '--until', '2026-02');
    expect(table.stdout).toMatch(/^2026-01-31 +1 +1 .* EUR +2\.00 +-0\.50 +-0\.50$/m);
    expect(table.stdout).toMatch(/^total +1 /m);
  });

  test.each([
    [['review', '--since', 'yesterday'], '--since: must be a time'],
    [['review', '--limit', '0'], '--limit: must be a number'],
    [
      ['report', '--by', 'prompt'],
      'Allowed: day, month, account, model, campaign, operation, outcome, label:NAME.',
    ],
  ])('%j is refused', async (args, message) => {
    const { code, reply } = await json(...args);
    expect([code, reply.error?.message]).toEqual([65, expect.stringContaining(message)]);
  });

  test('without a journal here, says so', async () => {
    const env = { ...offline, MEDIA_DATA_DIR: path.join(bench.dir, 'elsewhere') };
    const { code, reply } = await runJson(['money', 'review'], env);
    expect([code, reply.error?.type]).toEqual([73, 'journal_unusable']);
  });
});
