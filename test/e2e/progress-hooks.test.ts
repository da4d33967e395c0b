import { type WorkflowHandle } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { startTemporalServer, type RunningTemporalServer } from '../../packages/testing/src/temporal-server';
import { type VideoOutcome, type VideoState } from '../../src/domain';
import { type CampaignState } from '../../src/domain/campaign/campaign-state';
import { type GenerateVideoInput } from '../../src/domain/workflow-inputs';
import { type ChildProgress } from '../../src/workflows';
import { accepted } from '../support/accepted';
import { queuesOf, storedManifest } from '../support/campaign';
import { runChain } from '../support/run-chain';
import { sharedStack } from '../support/shared-stack';
import { TEST_WORKFLOWS, testBundle } from '../support/test-bundle';
import { type HookKind } from '../support/workflows/progress-hooks';

/** A server that suggests a continue-as-new every few events: a hook must survive it too. */
const HINT_AT_EVENTS = 18;
const SECRET = 'SECRET-PROMPT';

describe('a hook for progress in a workflow of a user', () => {
  let own: RunningTemporalServer | undefined;
  const stack = sharedStack(
    async () => {
      own = await startTemporalServer({
        env: { ...process.env, TEMPORAL_ADDRESS: undefined, TEMPORAL_PROFILE: undefined },
        dynamicConfig: { 'limit.historyCount.suggestContinueAsNew': String(HINT_AT_EVENTS) },
      });
      return { temporal: own, sandbox: { timing: { queuedMs: 0, runningMs: 300 } } };
    },
    (media) => media.startWorker({ media: { workflows: { workflowsPath: TEST_WORKFLOWS } } }),
  );
  afterAll(() => own?.stop());

  async function buy(prompt: string, kind: HookKind, more: Partial<GenerateVideoInput> = {}) {
    const { server, taskQueue } = await stack();
    const handle = await server.client.workflow.start('publishingBuyer', {
      taskQueue,
      workflowId: server.uniqueId('publishing'),
      args: [{ request: { model: 'cine-1', prompt, durationSeconds: 2 }, ...more }, kind],
    });
    const outcome = (await handle.result()) as VideoOutcome;
    return { handle, outcome };
  }

  async function memoOf<Entry>(handle: WorkflowHandle, name: string): Promise<readonly Entry[]> {
    return ((await handle.describe()).memo?.[name] ?? []) as readonly Entry[];
  }

  async function eventsOf(handle: WorkflowHandle): Promise<readonly string[]> {
    const { events } = await handle.fetchHistory();
    return (events ?? []).flatMap((event) => {
      const [kind = ''] = Object.keys(event).filter((key) => key.endsWith('EventAttributes'));
      // How many tasks there are depends on the machine.
      return kind.startsWith('workflowTask') ? [] : [kind];
    });
  }

  async function replay(handle: WorkflowHandle): Promise<void> {
    const history = await handle.fetchHistory();
    const workflowBundle = await testBundle(TEST_WORKFLOWS);
    await Worker.runReplayHistory({ workflowBundle }, history, handle.workflowId);
  }

  it.concurrent('gets what the caller knows of its child, whose id leads to all states', async () => {
    const prompt = `a kite to publish ${SECRET}`;
    const { handle, outcome } = await buy(prompt, 'memo');
    expect(outcome).toMatchObject({ outcome: 'completed' });
    const progress = await memoOf<ChildProgress>(handle, 'progress');
    const workflowId = progress[0]?.workflowId ?? '';
    expect(progress).toEqual([
      { phase: 'started', workflowId, outcome: null },
      { phase: 'done', workflowId, outcome: 'completed' },
    ]);
    expect(JSON.stringify(progress)).not.toContain(SECRET);
    expect(await (await stack()).media.videoState(workflowId)).toMatchObject({ phase: 'done' });
    await replay(handle);
  });

  it.concurrent('a wait that continues has a child, and states, of its own', async () => {
    const { handle, outcome } = await buy('[run:9s] a slow kite', 'memo', { waitFor: '3s' });
    expect(outcome).toMatchObject({ outcome: 'completed' });
    const progress = await memoOf<ChildProgress>(handle, 'progress');
    expect(progress.map(({ phase, outcome: ended }) => [phase, ended])).toEqual([
      ['started', null],
      ['done', 'still_running'],
      ['started', null],
      ['done', 'completed'],
    ]);
    await replay(handle);
  });

  it.concurrent('adds no event by being there, and whatever it does stops no paid call', async () => {
    const kinds = ['none', 'idle', 'throws', 'rejects', 'is no function'] as const;
    const ran = await Promise.all(kinds.map((kind) => buy(`a kite whose hook ${kind}`, kind)));
    const events = await Promise.all(ran.map(({ handle }) => eventsOf(handle)));
    for (const [index, { handle, outcome }] of ran.entries()) {
      expect(outcome).toMatchObject({ outcome: 'completed' });
      expect(events[index]).toEqual(events[0]);
      expect(await accepted(await stack(), `a kite whose hook ${kinds[index]}`)).toBe(1);
      await replay(handle);
    }
  });

  it.concurrent('in the workflow of the video it gets every phase, across runs, and changes nothing', async () => {
    const media = await stack();
    const prompt = `[run:12s] a kite of many runs ${SECRET}`;
    const input = { request: { model: 'cine-1', prompt, durationSeconds: 2 }, polling: 'own' };
    const handle = await media.server.client.workflow.start('publishingVideo', {
      taskQueue: media.taskQueue,
      workflowId: media.server.uniqueId('publishing-video'),
      args: [input],
    });
    const outcome = (await handle.result()) as VideoOutcome;
    const { client } = media.server;
    const runs = await runChain(client, handle.workflowId, handle.firstExecutionRunId);
    const published = await Promise.all(
      runs.map(({ runId }) =>
        memoOf<VideoState>(client.workflow.getHandle(handle.workflowId, runId), 'states'),
      ),
    );
    const phasesOf = (states: readonly VideoState[]) => [...new Set(states.map(({ phase }) => phase))];
    expect(runs.length).toBeGreaterThan(1);
    expect(phasesOf(published.flat())).toEqual(['creating', 'watching', 'downloading', 'done']);
    // A run that continues a wait creates nothing.
    for (const states of published.slice(1)) expect(phasesOf(states)[0]).toBe('watching');
    const taskId = 'video' in outcome ? outcome.video?.taskId : undefined;
    expect(outcome).toMatchObject({ outcome: 'completed' });
    expect(published.at(-1)?.at(-1)).toMatchObject({ phase: 'done', outcome: 'completed', taskId });
    expect(JSON.stringify(published)).not.toContain(SECRET);
    expect(await accepted(media, prompt)).toBe(1);
    await replay(handle);
  });

  it.concurrent('with a watcher it gets the phases, and so does a wait for a task', async () => {
    const media = await stack();
    const prompt = '[run:5s] a shared kite';
    const request = { model: 'cine-1', prompt, durationSeconds: 2 };
    const start = (type: string, input: object) =>
      media.server.client.workflow.start(type, {
        taskQueue: media.taskQueue,
        workflowId: media.server.uniqueId('publishing'),
        args: [{ ...input, polling: 'shared' }],
      });
    const film = await start('publishingVideo', { request });
    const outcome = (await film.result()) as VideoOutcome;
    expect(outcome).toMatchObject({ outcome: 'completed' });
    const [first, ...others] = (await memoOf<VideoState>(film, 'states')).map(({ phase }) => phase);
    expect([first, others[0], others.at(-1)]).toEqual(['creating', 'watching', 'done']);
    const taskId = 'video' in outcome ? outcome.video?.taskId : undefined;
    const wait = await start('publishingWait', { video: { taskId } });
    expect(await wait.result()).toMatchObject({ outcome: 'completed' });
    const ofWait = await memoOf<string>(wait, 'phases');
    expect([ofWait[0], ofWait.at(-1)]).toEqual(['watching', 'done']);
    expect(ofWait).not.toContain('creating');
    expect(await accepted(media, prompt)).toBe(1);
    for (const handle of [film, wait]) await replay(handle);
  });

  it.concurrent('in the workflow of a campaign it gets counts as rows end', async () => {
    const media = await stack();
    const rows = [0, 1, 2].map((n) => ({
      id: `row-${n}`,
      model: 'cine-1',
      prompt: `[run:${1 + n * 5}s] ${SECRET} ${n}`,
      duration: 2,
    }));
    const handle = await media.server.client.workflow.start('publishingCampaign', {
      taskQueue: media.taskQueue,
      workflowId: media.server.uniqueId('publishing-campaign'),
      args: [{ manifest: await storedManifest(media, rows), queues: queuesOf(media) }],
    });
    expect(await handle.result()).toMatchObject({ outcome: 'completed', counts: { completed: 3 } });
    const states = await memoOf<Pick<CampaignState, 'phase' | 'counts'>>(handle, 'states');
    expect([...new Set(states.map(({ phase }) => phase))]).toEqual(['planning', 'running', 'done']);
    expect(states.at(-1)).toMatchObject({ phase: 'done', counts: { completed: 3 } });
    expect(states.length).toBeLessThan(20);
    expect(JSON.stringify(states)).not.toContain(SECRET);
    await replay(handle);
  });
});
