import { type WorkflowHandle } from '@temporalio/client';
import { fetch } from 'undici';
import { withWatchers, fetchChain } from '../../packages/replay/src/fetch-histories';
import { buildTimeline } from '../../packages/replay/src/timeline/build-timeline';
import { type VideoOutcome, type VideoState } from '../../src/domain';
import { type MediaActivities } from '../../src/domain/activities';
import { ACTIVITY, QUERY, SIGNAL, UPDATE, WORKFLOW } from '../../src/domain/names';
import { type WatchedState, type WatcherContents } from '../../src/domain/watcher';
import { eventually } from '../support/eventually';
import { handMadeWorker } from '../support/hand-made-worker';
import { SANDBOX_KEY } from '../support/media-stack';
import { resetWorkflow } from '../support/reset-workflow';
import { sharedStack } from '../support/shared-stack';

/** Videos that a watcher polls: the same outcomes as with own polling, and hardly any history. */
describe('shared polling', () => {
  const stack = sharedStack({});

  async function video(prompt: string, more: object = {}): Promise<WorkflowHandle> {
    const { server, taskQueue } = await stack();
    const workflowId = server.uniqueId('shared');
    const request = { model: 'cine-1', prompt, durationSeconds: 2 };
    return server.client.workflow.start(WORKFLOW.generateVideo, {
      taskQueue,
      workflowId,
      args: [{ request, creationKey: workflowId, polling: 'shared', ...more }],
    });
  }

  /** A cadence that no other test has: what happens to the watcher of this video happens to no other. */
  const onItsOwn = (minutes: number) => ({
    slowPolling: { after: `${minutes} minutes`, interval: '1 minute' },
  });

  const stateOf = (handle: WorkflowHandle): Promise<VideoState> => handle.query(QUERY.videoState);

  const watched = (handle: WorkflowHandle, more: (state: VideoState) => boolean = () => true) =>
    eventually('a watcher', async () => {
      const state = await stateOf(handle);
      return state.watcher !== undefined && more(state) ? { ...state, watcher: state.watcher } : undefined;
    });

  /** What the watcher knows of a video, once it has polled it. */
  async function polled(handle: WorkflowHandle): Promise<{ watcher: WorkflowHandle; known: WatchedState }> {
    const { server } = await stack();
    const { watcher: id } = await watched(handle);
    const watcher = server.client.workflow.getHandle(id);
    const known = await eventually('a poll of the watcher', async () => {
      // It may not have been started yet.
      const state = await watcher
        .query<WatchedState | null, [string]>(QUERY.watchState, handle.workflowId)
        .catch(() => null);
      return state !== null && state.state.polls > 0 ? state : undefined;
    });
    return { watcher, known };
  }

  it.concurrent('a video has 19 events of its own, 6 of them for its watch and its file, however long that takes', async () => {
    const handle = await video('[queue:0s] [run:20s] an early bird', onItsOwn(60));
    const { known, watcher } = await polled(handle);
    expect(known.state.lastStatus).toBe('in_progress');
    // A burst of starts would keep it from its polls.
    expect((await watcher.describe()).priority?.priorityKey).toBe(1);
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
    const events = (await handle.fetchHistory()).events ?? [];
    // On a busy machine a workflow task may time out, which is three events that no workflow asked for.
    const late = events.filter((event) => event.workflowTaskTimedOutEventAttributes != null).length;
    expect(events.length - 3 * late).toBe(19);
    const state = await stateOf(handle);
    expect(state).toMatchObject({ phase: 'done', outcome: 'completed' });
    expect(state.polls).toBeGreaterThan(1);
  });

  it.concurrent('failed, still running and unknown tasks end as with own polling', async () => {
    const { server, taskQueue } = await stack();
    const failing = await video('[queue:0s] [run:2s] [fail:capacity] a bird that falls');
    const patient = await video('[queue:0s] [run:90s] a slow bird', { waitFor: '9s' });
    const unknown = server.client.workflow.execute<(input: object) => Promise<VideoOutcome>>(
      WORKFLOW.awaitVideo,
      {
        taskQueue,
        workflowId: server.uniqueId('shared-await'),
        args: [{ video: { taskId: 'never-made' }, polling: 'shared', waitFor: '10s' }],
      },
    );
    expect(await failing.result()).toMatchObject({ outcome: 'failed', error: { kind: 'capacity' } });
    expect(await patient.result()).toMatchObject({ outcome: 'still_running', lastStatus: 'in_progress' });
    expect(await unknown).toMatchObject({ outcome: 'still_running' });
  });

  it.concurrent('a cancelled video ends at once, and its watcher forgets it', async () => {
    const handle = await video('[queue:0s] [run:60s] a bird that is let go', onItsOwn(61));
    const { watcher } = await polled(handle);
    await handle.cancel();
    expect(await handle.result()).toMatchObject({ outcome: 'cancelled' });
    const snapshot = await watcher.query<WatcherContents>(QUERY.watchSnapshot);
    expect(snapshot.watches.map(({ waiter }) => waiter.workflowId)).not.toContain(handle.workflowId);
  });

  it.concurrent('videos of a watcher that is terminated are joined to another run of it', async () => {
    const handle = await video('[queue:0s] [run:30s] a bird without a nest', onItsOwn(62));
    const { watcher } = await polled(handle);
    const { runId } = await watcher.describe();
    // The query for its videos replays them.
    for (const odd of [{}, [null], [{ waiter: {} }]]) await watcher.signal(SIGNAL.watchJoin, odd);
    await watcher.terminate('by an operator');
    // On a busy machine the other run may be over before it is seen.
    await eventually('another run', async () => (await watcher.describe()).runId !== runId, 90_000);
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
    const lost = /^The watcher was terminated by .+: by an operator; its next run took over after \d/;
    await eventually('its loss in the replay of the video', async () => {
      const { client } = (await stack()).server;
      const chain = await fetchChain(client, handle.workflowId);
      const { entries } = buildTimeline(await withWatchers(client, chain, async (run) => run));
      return entries.some(({ kind, text }) => kind === 'watch' && lost.test(text));
    });
  });

  it.concurrent('a watcher that is reset goes on, and tells what it finds', async () => {
    const handle = await video('[queue:0s] [run:20s] a bird that is born again', onItsOwn(63));
    const { watcher } = await polled(handle);
    await resetWorkflow((await stack()).server, watcher.workflowId);
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
  });

  it.concurrent('a watcher continues as new with all its videos', async () => {
    const { server } = await stack();
    const handle = await video('[queue:0s] [run:30s] a bird of passage', onItsOwn(64));
    const { watcher } = await polled(handle);
    const { input, watches } = await watcher.query<WatcherContents>(QUERY.watchSnapshot);
    const { taskQueue, workflowId } = { ...(await watcher.describe()), workflowId: watcher.workflowId };
    // In the place of the run that polls it: one that is full after its first tick.
    const started = await server.client.workflow.signalWithStart(WORKFLOW.watchVideos, {
      taskQueue,
      workflowId,
      args: [{ ...input, eventsPerRun: 10 }],
      signal: SIGNAL.watchJoin,
      signalArgs: [watches],
      workflowIdConflictPolicy: 'TERMINATE_EXISTING',
    });
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
    const first = await server.client.workflow.getHandle(workflowId, started.signaledRunId).describe();
    expect(first.status.name).toBe('CONTINUED_AS_NEW');
  });

  it.concurrent('a client sees what the watcher knows, and a nudge brings the next poll forward', async () => {
    const { media, sandbox } = await stack();
    const handle = await video('[queue:0s] [run:30s] a bird that sings', {
      slowPolling: { after: 0, interval: '1 hour' },
    });
    const { watcher } = await polled(handle);
    const state = await media.videoState(handle.workflowId);
    expect(state).toMatchObject({
      phase: 'watching',
      watcher: watcher.workflowId,
      polls: 1,
      watch: { lastStatus: 'in_progress' },
    });
    expect(Date.parse(state.nextPollAt ?? '')).toBeGreaterThan(Date.parse(state.lastPollAt ?? '') + 60_000);
    const ended = async () => {
      const reply = await fetch(`${sandbox.url}/v1/videos/${state.taskId}`, {
        headers: { authorization: `Bearer ${SANDBOX_KEY}` },
      });
      return ((await reply.json()) as { readonly status: string }).status === 'completed';
    };
    await eventually('the end of the task', ended, 60_000);
    expect(await media.nudge(handle.workflowId)).toBe(true);
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
    expect(await media.nudge(handle.workflowId)).toBe(false);
  });

  it.concurrent.each([
    ['a worker that has no such activity', { [ACTIVITY.watchVideo]: undefined }, '20s'],
    [
      'a watcher whose answers are lost',
      { [ACTIVITY.tellVideos]: async () => undefined, [ACTIVITY.deliverVideos]: async () => undefined },
      '6s',
    ],
  ])('%s: the video polls by itself after all', async (_what, replaced, waitFor) => {
    const made = await stack();
    const { client } = made.server;
    const replace = () => replaced as Partial<MediaActivities>;
    const worker = await handMadeWorker(made, { polling: 'shared' }, replace);
    const workflowId = made.server.uniqueId('by-itself');
    const request = { model: 'cine-1', prompt: '[queue:0s] [run:2s] a lonely bird', durationSeconds: 2 };
    const outcome = await worker.runUntil(
      client.workflow.execute<(input: object) => Promise<VideoOutcome>>(WORKFLOW.generateVideo, {
        taskQueue: worker.taskQueue,
        workflowId,
        // The worker says that polling is shared.
        args: [{ request, creationKey: workflowId, waitFor }],
      }),
    );
    expect(outcome).toMatchObject({ outcome: 'completed' });
    const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
    const types = (events ?? []).flatMap(
      (event) => event.activityTaskScheduledEventAttributes?.activityType?.name ?? [],
    );
    expect(new Set(types)).toEqual(
      new Set([ACTIVITY.createVideo, ACTIVITY.watchVideo, ACTIVITY.pollVideos, ACTIVITY.downloadVideo]),
    );
  });

  it.concurrent('a create that a person adopts is polled as the worker says', async () => {
    const made = await stack();
    const { sandbox } = made;
    const { client } = made.server;
    const prompt = '[queue:0s] [run:8s] a bird that was taken for lost';
    await sandbox.admin.addFaults([
      {
        operation: 'create',
        promptIncludes: prompt,
        action: { type: 'lose_reply', accepted: true, how: 'reset' },
      },
    ]);
    const worker = await handMadeWorker(made, { polling: 'shared' });
    const workflowId = made.server.uniqueId('adopted');
    await worker.runUntil(async () => {
      const handle = await client.workflow.start(WORKFLOW.generateVideo, {
        taskQueue: worker.taskQueue,
        workflowId,
        args: [
          {
            request: { model: 'cine-1', prompt, durationSeconds: 2 },
            creationKey: workflowId,
            onUnconfirmed: 'wait',
          },
        ],
      });
      await eventually(
        'the wait for a decision',
        async () => (await stateOf(handle)).phase === 'unconfirmed',
      );
      const task = (await sandbox.admin.tasks()).find((one) => one.prompt === prompt);
      await handle.executeUpdate(UPDATE.adopt, {
        args: [
          { sendId: (await stateOf(handle)).evidence?.sendId, taskId: task?.id, by: 'ada', reason: 'found' },
        ],
      });
      await watched(handle);
      expect(await handle.result()).toMatchObject({ outcome: 'completed' });
    });
  });

  it.concurrent('the replay of a video has each poll of its watcher', async () => {
    const { client } = (await stack()).server;
    const handle = await video('[queue:0s] [run:8s] a bird of which is told');
    await handle.result();
    const { polls } = await stateOf(handle);
    const chain = await fetchChain(client, handle.workflowId);
    const told = await eventually('the watcher in the lists of the server', async () => {
      const { watchers } = await withWatchers(client, chain, async (watcher) => watcher);
      const { entries } = buildTimeline({ ...chain, ...(watchers !== undefined && { watchers }) });
      const counted = entries.flatMap(({ kind, facts }) =>
        kind === 'polls' ? [Number(facts['polls'])] : [],
      );
      return counted.length > 0 ? counted : undefined;
    });
    expect(told.reduce((sum, count) => sum + count)).toBe(polls);
  });
});
