import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { orphansAmong } from '../../packages/cli/src/orphans/run';
import { TemporalMediaClient } from '../../src/client';
import { SEARCH_ATTRIBUTES } from '../../src/domain/names';
import { accepted } from '../support/accepted';
import { storedManifest } from '../support/campaign';
import { eventually } from '../support/eventually';
import { type MediaStack, startMediaStack } from '../support/media-stack';
import { ownNamespace } from '../support/temporal';
import { runCli, runJson } from './support/run-cli';

const KEY_OF_MODEL = defineSearchAttributeKey('MediaModel', SearchAttributeType.KEYWORD);

describe('search attributes', () => {
  let stack: MediaStack;
  let dir: string;
  let env: NodeJS.ProcessEnv;
  let media: TemporalMediaClient;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'temporal-media-search-'));
    stack = await startMediaStack({
      temporal: await ownNamespace(),
      sandbox: { timing: { queuedMs: 0, runningMs: 300 } },
    });
    await stack.startWorker();
    env = { ...stack.env, MEDIA_DATA_DIR: join(dir, 'client'), MEDIA_SEARCH_ATTRIBUTES: '1' };
    media = new TemporalMediaClient(stack.server.client, {
      taskQueue: stack.taskQueue,
      searchAttributes: true,
    });
  });
  afterAll(async () => {
    await stack.stop();
    await rm(dir, { recursive: true, force: true });
  });

  const video = (prompt: string) => ({ model: 'cine-1', prompt, durationSeconds: 2 });

  /** Ids of the executions that a query of the UI finds, once it finds as many. */
  async function found(query: string, count: number): Promise<readonly string[]> {
    return eventually(`${count} found by ${query}`, async () => {
      const ids: string[] = [];
      for await (const { workflowId } of stack.server.client.workflow.list({ query })) ids.push(workflowId);
      return ids.length === count && ids.sort();
    });
  }

  it('a start that wants them in a namespace without them buys nothing and says what to do', async () => {
    await expect(media.startVideo({ request: video('too early') }, { id: 'early' })).rejects.toThrow(
      /does not have the search attribute Media\w+.*temporal-media setup.*Nothing was started/,
    );
    const tried = await runJson(
      ['video', '--model', 'cine-1', '--prompt', 'too early', '--duration', '2'],
      env,
    );
    expect(tried.reply.error?.message).toContain('temporal-media setup');
    expect(await accepted(stack, 'too early')).toBe(0);
  });

  it('setup registers them once; a dry run says which are missing', async () => {
    const { namespace } = stack.server;
    const all = [...SEARCH_ATTRIBUTES].sort();
    const data = async (args: string[]) => {
      const { reply, code } = await runJson(['setup', ...args], env);
      expect(code).toBe(0);
      const { registered, present, ...rest } = reply.data as { registered: string[]; present: string[] };
      return { ...rest, registered: [...registered].sort(), present: [...present].sort() };
    };
    expect(await data(['--dry-run'])).toEqual({ namespace, dryRun: true, registered: all, present: [] });
    expect(await data([])).toEqual({ namespace, dryRun: false, registered: all, present: [] });
    await eventually(
      'the attributes listed',
      async () => (await data(['--dry-run'])).registered.length === 0,
    );
    expect(await data([])).toEqual({ namespace, dryRun: false, registered: [], present: all });
    const text = await runCli(['setup'], env);
    expect(text.stderr).toContain('all are registered');
  });

  it('videos and images are found by outcome, model, account, task; status finds a task by them', async () => {
    const labels = { tenant: 'acme', project: 'spring' };
    const done = await media.startVideo({ request: video('done'), labels }, { id: 'done' });
    const outcome = await done.result();
    expect(outcome).toMatchObject({ outcome: 'completed' });
    const refused = await media.startVideo({ request: video('[fail:moderation] refused') }, { id: 'failed' });
    await refused.result();
    const image = await media.images.start(
      { request: { model: 'image-2', prompt: 'poster', size: '1024x1024' } },
      { id: 'image', as: 'workflow' },
    );
    await image.result();
    const plain = await stack.media.startVideo({ request: video('plain') }, { id: 'plain' });
    await plain.result();
    const { taskId, account } = outcome.outcome === 'completed' ? outcome.video : fail();
    expect(await found(`MediaOutcome = 'completed'`, 2)).toEqual(['done', 'image']);
    expect(await found(`MediaOutcome = 'failed' AND MediaModel = 'cine-1'`, 1)).toEqual(['failed']);
    expect(await found(`MediaAccount = '${account}'`, 2)).toEqual(['done', 'failed']);
    expect(await found(`MediaTaskId = '${taskId}'`, 1)).toEqual(['done']);
    expect(await found(`MediaLabels = 'tenant=acme' AND MediaLabels = 'project=spring'`, 1)).toEqual([
      'done',
    ]);
    const { memo } = await stack.server.client.workflow.getHandle('done').describe();
    expect(memo).toMatchObject({ mediaLabels: labels });
  });

  it('a create of unknown fate is found while it waits for a decision, and a task id by it alone', async () => {
    const waits = await media.startVideo(
      { request: video('[lost-reply] waits'), onUnconfirmed: 'wait' },
      { id: 'waits' },
    );
    expect(await found(`MediaOutcome = 'unconfirmed' AND ExecutionStatus = 'Running'`, 1)).toEqual(['waits']);
    await media.resolveUnconfirmed(
      { creationKey: 'waits', decision: 'declareLost', by: 'test', reason: 'test' },
      'waits',
    );
    expect(await waits.result()).toMatchObject({ outcome: 'rejected', reason: 'declared_lost' });
    expect(await found(`MediaOutcome = 'rejected'`, 1)).toEqual(['waits']);
  });

  it('once a person has had it sent again it is not found as unconfirmed any more', async () => {
    const again = await media.startVideo(
      { request: video('[lost-reply] [run:8s] sent again'), onUnconfirmed: 'wait' },
      { id: 'again' },
    );
    const waiting = `MediaOutcome = 'unconfirmed' AND ExecutionStatus = 'Running'`;
    expect(await found(waiting, 1)).toEqual(['again']);
    await media.resolveUnconfirmed(
      { creationKey: 'again', decision: 'resubmit', by: 'test', reason: 'test' },
      'again',
    );
    expect(await found(`MediaTaskId IS NOT NULL AND ExecutionStatus = 'Running'`, 1)).toEqual(['again']);
    expect(await found(waiting, 0)).toEqual([]);
    expect(await again.result()).toMatchObject({ outcome: 'completed' });
  });

  it('a campaign and its batches are found by its id', async () => {
    const rows = [1, 2].map((n) => ({ id: `${n}`, model: 'cine-1', prompt: `film ${n}`, duration: 2 }));
    const manifest = await storedManifest(stack, rows);
    const campaign = await media.campaigns.start({ manifest }, { id: 'spring' });
    expect(await campaign.result()).toMatchObject({ outcome: 'completed' });
    const ids = await found(`MediaCampaign = 'spring'`, 2);
    expect(ids[0]).toBe('spring');
    expect(await found(`MediaCampaign = 'spring' AND MediaOutcome = 'completed'`, 1)).toEqual(['spring']);
    const { data } = (await runJson(['campaign', 'list'], env)).reply;
    expect(data?.['campaigns']).toMatchObject([
      { workflowId: 'spring', status: 'COMPLETED', outcome: 'completed' },
    ]);
  });

  it('orphans asks once for a hundred tasks, and takes a task for reported that another workflow has adopted', async () => {
    const { server, taskQueue } = stack;
    const order = async (prompt: string, ids: readonly string[]): Promise<string> => {
      const creationKey = server.uniqueId('order');
      const request = video(prompt);
      await server.client.workflow.start('generateVideo', {
        taskQueue,
        workflowId: `${creationKey}-${ids[0]}`,
        typedSearchAttributes: [{ key: KEY_OF_MODEL, value: 'cine-1' }],
        args: [{ request, creationKey }],
      });
      const taskId = await eventually('the task', async () => {
        const { created } = await media.reviewJournal({ list: 'created' });
        return created.find((entry) => entry.creationKey === creationKey)?.taskId;
      });
      await server.client.workflow.getHandle(`${creationKey}-${ids[0]}`).terminate();
      for (const id of ids.slice(1))
        await server.client.workflow.execute('generateVideo', {
          taskQueue,
          workflowId: `${creationKey}-${id}`,
          typedSearchAttributes: [{ key: KEY_OF_MODEL, value: 'cine-1' }],
          args: [{ request, creationKey }],
        });
      return taskId;
    };
    const adopted = await order('[run:3s] adopted elsewhere', ['first', 'second']);
    const left = await order('[run:600s] left alone', ['only']);
    await found(`MediaTaskId = '${adopted}' AND ExecutionStatus = 'Completed'`, 1);
    const { created } = await media.reviewJournal({ list: 'created' });
    expect(created.length).toBeGreaterThan(4);

    const { workflowService } = server.client.connection;
    const lists = jest.spyOn(workflowService, 'listWorkflowExecutions');
    const descriptions = jest.spyOn(workflowService, 'describeWorkflowExecution');
    const orphans = await orphansAmong(server.client, created, new Date(0));
    expect(orphans.map(({ taskId, endedAs }) => [taskId, endedAs])).toEqual([[left, 'TERMINATED']]);
    // By the ids of their workflows, then by the tasks that are left; the orphan itself is described, and its resume.
    expect([lists.mock.calls.length, descriptions.mock.calls.length]).toEqual([2, 2]);
    jest.restoreAllMocks();
  });

  it('options of Temporal are passed on', async () => {
    const started = await media.startVideo(
      { request: video('with options') },
      {
        id: 'options',
        memo: { order: 7 },
        priority: { priorityKey: 2 },
        staticSummary: 'for the shop',
        workflowExecutionTimeout: '1 day',
      },
    );
    const description = await stack.server.client.workflow.getHandle('options').describe();
    expect(description.memo).toMatchObject({ order: 7, mediaFingerprint: expect.any(String) as string });
    expect(description.priority).toMatchObject({ priorityKey: 2 });
    expect(await description.staticSummary()).toBe('for the shop');
    expect(await started.result()).toMatchObject({ outcome: 'completed' });
  });
});
