import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createMediaActivities } from '../../src/activities/create-media-activities';
import { type CreateJournal } from '../../src/domain/journal';
import { type ModelEntry } from '../../src/domain/model-config';
import { ACTIVITY } from '../../src/domain/names';
import { type PollVideosInput, type PollVideosResult } from '../../src/domain/poll-answers';
import { createMediaClient } from '../../src/service/create-media-client';
import { type ModelSource } from '../../src/settings/model-source';
import { createFileJournal } from '../../src/stores/journal/file-journal';
import { answers } from '../domain/create-answers';
import { loopback, type Loopback } from '../service/loopback-service';
import { answerEntry, intentEntry } from '../support/log-entries';
import { paidDeps } from './paid-deps';

const NAMESPACE = 'default';
const ACCOUNT = 'default@00000000';
const USD = { microUnits: 400_000, currency: 'USD' };

describe("a task's amount in its final record", () => {
  let folder: string;
  let service: Loopback;
  let journal: CreateJournal;
  let record: object;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'temporal-media-task-bills-'));
    journal = createFileJournal({ root: join(folder, 'journal') });
    record = { id: 'task-0', status: 'completed', url: '/v1/x.mp4', usage: { cost: '0.35' } };
    service = await loopback((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(record));
    });
  });
  afterEach(async () => {
    await service.close();
    await rm(folder, { recursive: true, force: true });
  });

  const entry = (actual: ModelEntry['actual']): ModelEntry => ({
    id: 'cine-1',
    kind: 'video',
    ...(actual && { actual }),
  });
  const modelsOf = (all: ModelSource['all']): ModelSource => ({
    all,
    lookup: () => Promise.resolve({ found: 'unlisted' }),
    fingerprint: () => 'none',
  });
  const rule = { path: 'usage.cost', currency: 'USD' };

  async function bought(estimate: typeof USD | null = USD): Promise<void> {
    const account = ACCOUNT;
    const created = answers.created(0);
    const video = { ...created.video, taskId: 'task-0', account, model: 'cine-1' };
    const key = { namespace: NAMESPACE, creationKey: 'key' };
    await journal.append(key, 0, intentEntry({ ...key, account, estimate }));
    await journal.append(key, 1, answerEntry({ ...created, video, account }));
    await journal.indexTask({ v: 1, ...key, sendAttempt: 0, workflowId: 'w', runId: 'r', video });
  }

  function polling(models: ModelSource, own: CreateJournal): () => Promise<PollVideosResult> {
    const client = createMediaClient({ baseUrl: service.origin, apiKey: () => 'key' });
    const deps = { ...paidDeps(folder, own, client), models };
    const activities = createMediaActivities({ ...deps, standing: deps.checkBinding });
    const input: PollVideosInput = {
      account: ACCOUNT,
      budgetMs: 5_000,
      minIntervalMs: 0,
      byModel: [{ model: 'cine-1', ids: ['task-0'], seen: [''] }],
    };
    const run = (asked: PollVideosInput) => activities[ACTIVITY.pollVideos](asked);
    return () =>
      new MockActivityEnvironment({ workflowNamespace: NAMESPACE }).run<
        [PollVideosInput],
        PollVideosResult,
        typeof run
      >(run, input);
  }

  async function poll(models: ModelSource, own: CreateJournal = journal): Promise<PollVideosResult> {
    return polling(models, own)();
  }

  const billsOf = async () =>
    (await journal.read({ namespace: NAMESPACE, creationKey: 'key' })).filter(({ kind }) => kind === 'bill');

  it('is returned and recorded as a bill, once, however often the task is polled', async () => {
    await bought();
    const models = modelsOf(() => Promise.resolve([entry(rule)]));
    for (let n = 0; n < 2; n += 1)
      expect(await poll(models)).toMatchObject({
        answers: [{ record: { phase: 'completed', actual: { microUnits: 350_000, currency: 'USD' } } }],
      });
    expect(await billsOf()).toMatchObject([{ microUnits: 350_000, source: 'service', reference: 'task-0' }]);
  });

  it('[C1.9] is unknown without a rule, without an amount, and before the task has ended', async () => {
    await bought();
    const withRule = modelsOf(() => Promise.resolve([entry(rule)]));
    const without = modelsOf(() => Promise.resolve([entry(undefined)]));
    const actualOf = async (models: ModelSource) => {
      const [answer] = (await poll(models)).answers;
      return answer !== undefined && 'record' in answer ? answer.record.actual : 'no record';
    };
    expect(await actualOf(without)).toBeUndefined();
    record = { ...record, usage: { cost: 'free' } };
    expect(await actualOf(withRule)).toBeUndefined();
    record = { ...record, status: 'in_progress', usage: { cost: 1 } };
    expect(await actualOf(withRule)).toBeUndefined();
    expect(await billsOf()).toEqual([]);
  });

  it('is not recorded in another currency than the estimate', async () => {
    await bought();
    const models = modelsOf(() => Promise.resolve([entry({ ...rule, currency: 'EUR' })]));
    await poll(models);
    expect(await billsOf()).toEqual([]);
  });

  it('is returned also if the journal fails, and uses the last known rules while the configuration hangs', async () => {
    await bought(null);
    const down: CreateJournal = { ...journal, findTask: () => Promise.reject(new Error('down')) };
    let reads = 0;
    const models = modelsOf(() =>
      (reads += 1) === 1 ? Promise.resolve([entry(rule)]) : new Promise(() => undefined),
    );
    const again = polling(models, down);
    for (let n = 0; n < 2; n += 1)
      expect(await again()).toMatchObject({ answers: [{ record: { actual: { microUnits: 350_000 } } }] });
    expect(reads).toBe(2);
    expect(await billsOf()).toEqual([]);
  });
});
