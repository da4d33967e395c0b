import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createPostgresRecords, migratePostgres } from '../../packages/store-postgres/src';
import { type PostgresServer, startPostgres } from '../../scripts/stores/postgres';
import { createJournal } from '../../src/stores/journal/create-journal';
import { runJson } from '../cli/support/run-cli';
import { answers } from '../domain/create-answers';
import { makeVideoTask } from '../domain/make-video-task';
import { answerEntry, intentEntry } from '../support/log-entries';
import { describeWith, newDatabase } from './support/postgres';

describeWith('postgres')('money of a journal in PostgreSQL', () => {
  /** More than two pages of a scan. */
  const CALLS = 230;
  let server: PostgresServer;
  let env: NodeJS.ProcessEnv;
  const money = async (...args: string[]) => {
    const { code, reply } = await runJson(['money', ...args], env);
    expect([code, reply.error]).toEqual([0, undefined]);
    return reply.data as Record<string, unknown>;
  };

  beforeAll(async () => {
    server = await startPostgres();
    const url = await newDatabase(server.url);
    await migratePostgres(url);
    env = { TEMPORAL_ADDRESS: '127.0.0.1:1', MEDIA_JOURNAL: url };
    const records = createPostgresRecords({ url });
    const journal = createJournal(records);
    await journal.identity();
    const estimate = { microUnits: 100_000, currency: 'USD' };
    await Promise.all(
      Array.from({ length: CALLS }, async (_, index) => {
        const key = { namespace: 'default', creationKey: `order-${index}` };
        const at = new Date(Date.UTC(2026, 10, 1, 0, CALLS - index)).toISOString();
        await journal.append(key, 0, intentEntry({ ...key, estimate, at, payer: 'spring/batch/0' }));
        const video = makeVideoTask({ taskId: `task-${index}` });
        await journal.append(key, 1, answerEntry({ ...answers.created(0), video }));
      }),
    );
    await records.close?.();
  }, 120_000);
  afterAll(() => server.stop());

  it('is reviewed page by page, settled by several at once, and added up', async () => {
    const review = await money('review', '--limit', '2');
    expect(review).toMatchObject({ total: CALLS, scanned: CALLS });
    expect(review['underReview']).toMatchObject([
      { creationKey: `order-${CALLS - 1}`, why: 'not_billed' },
      { creationKey: `order-${CALLS - 2}` },
    ]);
    const settle = ['settle', 'order-7', '--amount', '0.15', '--reason', 'r', '--reference'];
    const settled = await Promise.all(['a', 'a', 'a', 'b'].map((bill) => money(...settle, bill)));
    expect(settled.filter(({ isNew }) => isNew)).toHaveLength(2);
    expect(await money('report', '--by', 'campaign')).toMatchObject({
      rows: [
        {
          group: { campaign: 'spring' },
          ...{
            currency: 'USD',
            calls: CALLS,
            sends: CALLS,
            accepted: CALLS,
            billed: 1,
            underReview: CALLS - 1,
          },
          ...{ estimate: CALLS * 100_000, actual: 150_000, cost: CALLS * 100_000 + 50_000 },
        },
      ],
    });
  });

  it('is held against an invoice, whose bills two commands at once record once', async () => {
    const dir = await mkdtemp(path.join(tmpdir(), 'temporal-media-invoice-'));
    const file = path.join(dir, 'invoice.csv');
    const lines = Array.from({ length: CALLS }, (_, index) => `task-${index},0.10,USD`);
    await writeFile(file, ['task_id,amount,currency', ...lines, ''].join('\n'));
    const check = () => runJson(['money', 'check', file, '--apply'], env);
    const [one, other] = await Promise.all([check(), check()]);
    // A person has recorded another bill for one call.
    expect([one.code, other.code]).toEqual([8, 8]);
    expect(one.reply.data).toMatchObject({ keys: CALLS, findings: [{ finding: 'billed_before', line: 9 }] });
    const recorded = [one, other].map(
      ({ reply }) => reply.data?.['applied'] as { readonly recorded: number },
    );
    expect(recorded.reduce((sum, { recorded: bills }) => sum + bills, 0)).toBe(CALLS - 1);
    expect(await money('review')).toMatchObject({ total: 0 });
    expect((await check()).reply.data).toMatchObject({ applied: { recorded: 0 } });
    await rm(dir, { recursive: true, force: true });
  });
});
