import { type WorkflowHandle, WorkflowUpdateFailedError } from '@temporalio/client';
import { type temporal } from '@temporalio/proto';
import { batchWorkflowId } from '../../src/domain/campaign/budget-book';
import { mapConcurrently } from '../../src/domain/map-concurrently';
import { UPDATE } from '../../src/domain/names';
import { type VideoState } from '../../src/domain/video-state';
import { storedManifest } from '../support/campaign';
import { eventually } from '../support/eventually';
import { type MediaStack } from '../support/media-stack';
import { ODD_VALUES } from '../support/odd-values';
import { sharedStack } from '../support/shared-stack';

const REQUEST = { model: 'cine-1', prompt: 'a kite [run:600s]', durationSeconds: 2 };

/** Updates that take no input: whatever comes with them is ignored. */
const WITHOUT_INPUT: readonly string[] = [UPDATE.pause, UPDATE.resume, UPDATE.cancel];

type AnyMessage = (name: string, ...args: readonly unknown[]) => Promise<unknown>;

interface Handlers {
  readonly signals: readonly string[];
  readonly queries: readonly string[];
  readonly updates: readonly string[];
}

/** The handlers that a workflow has now, as its own code says. */
async function handlersOf(handle: WorkflowHandle): Promise<Handlers> {
  const { definition } = await handle.query<temporal.api.sdk.v1.IWorkflowMetadata>(
    '__temporal_workflow_metadata',
  );
  const names = (given?: readonly temporal.api.sdk.v1.IWorkflowInteractionDefinition[] | null) =>
    (given ?? []).flatMap(({ name }) => (name == null || name.startsWith('__') ? [] : [name]));
  return {
    signals: names(definition?.signalDefinitions),
    queries: names(definition?.queryDefinitions),
    updates: names(definition?.updateDefinitions),
  };
}

/** Sends every odd value, and none, to every handler of a workflow. @returns the names of its handlers */
async function pester(handle: WorkflowHandle): Promise<readonly string[]> {
  const handlers = await handlersOf(handle);
  const several: readonly (readonly unknown[])[] = [
    [],
    ...ODD_VALUES.map((value) => [value]),
    [null, {}, []],
  ];
  const all = (
    names: readonly string[],
    send: (name: string, args: readonly unknown[]) => Promise<unknown>,
  ) =>
    // The server refuses more Updates of one workflow at a time than ten.
    mapConcurrently(
      names.flatMap((name) => several.map((args) => [name, args] as const)),
      8,
      async ([name, args]) => void (await send(name, args)),
    );
  await all(handlers.signals, (name, args) => (handle.signal as AnyMessage)(name, ...args));
  await all(handlers.queries, (name, args) =>
    (handle.query as AnyMessage)(name, ...args).catch((error: unknown) => error),
  );
  const withInput = handlers.updates.filter((update) => !WITHOUT_INPUT.includes(update));
  await all(withInput, async (name, args) => {
    const sent = handle.executeUpdate<unknown, readonly unknown[] & []>(name, { args: args as never });
    const got = await sent.catch((error: unknown) => error);
    // A text may be a task id, which the service then does not know.
    if (typeof args[0] !== 'string' || name !== UPDATE.adopt)
      expect(got).toBeInstanceOf(WorkflowUpdateFailedError);
  });
  return [...handlers.signals, ...handlers.queries, ...handlers.updates];
}

/** Completes all tasks of the sandbox, which would run longer than any test. */
async function completeTasks({ sandbox }: MediaStack): Promise<void> {
  for (const { id } of await sandbox.admin.tasks())
    await sandbox.admin.patchTask(id, { status: 'completed' });
}

/** No workflow task of this run has failed. */
async function noFault({ server }: MediaStack, workflowId: string): Promise<void> {
  const { events } = await server.client.workflow.getHandle(workflowId).fetchHistory();
  const faults = (events ?? []).flatMap(({ workflowTaskFailedEventAttributes: failed }) =>
    failed == null ? [] : [failed.failure?.message],
  );
  expect(faults).toEqual([]);
}

/** What any client may send to any workflow: one that throws in a handler would fail its workflow task for ever. */
describe('odd messages to every handler', () => {
  const stack = sharedStack({});

  it('a video with its own polling, and one with its watcher', async () => {
    const made = await stack();
    const { media, server } = made;
    const own = await media.startVideo({ request: REQUEST, polling: 'own' });
    const shared = await media.startVideo({ request: REQUEST, polling: 'shared' });
    const video = server.client.workflow.getHandle(own.workflowId);
    const watched = server.client.workflow.getHandle(shared.workflowId);
    const stateOf = (handle: WorkflowHandle) => handle.query<VideoState>('video_state');
    await eventually('a video that is watched', async () => (await stateOf(video)).phase === 'watching');
    const watcherId = await eventually('a watcher', async () => (await stateOf(watched)).watcher);
    const watcher = server.client.workflow.getHandle(watcherId);
    await eventually('a video that has joined', async () => {
      const looked = watcher.query<{ watches: readonly unknown[] }>('watch_snapshot');
      return (await looked.catch(() => undefined))?.watches.length === 1;
    });

    expect(await Promise.all([pester(video), pester(watched), pester(watcher)])).toEqual([
      expect.arrayContaining(['nudge', 'video_state', 'adopt', 'declareLost', 'resubmit']),
      expect.arrayContaining(['nudge', 'video_state']),
      expect.arrayContaining(['watch_join', 'watch_leave', 'nudge', 'watch_state', 'watch_snapshot']),
    ]);
    expect(await stateOf(video)).toMatchObject({ creationKey: own.workflowId });
    expect(await watcher.query('watch_state', 'another')).toBeNull();
    await completeTasks(made);
    expect(await own.result()).toMatchObject({ outcome: 'completed' });
    expect(await shared.result()).toMatchObject({ outcome: 'completed' });
    await watcher.result();
    for (const id of [own.workflowId, shared.workflowId, watcherId]) await noFault(made, id);
  });

  it('a video that waits for a decision', async () => {
    const made = await stack();
    const { media, server } = made;
    const request = { ...REQUEST, prompt: 'a kite [lost-reply]' };
    const started = await media.startVideo({ request, onUnconfirmed: 'wait' });
    const handle = server.client.workflow.getHandle(started.workflowId);
    const { sendId } = await eventually(
      'a video without a known fate',
      async () => (await handle.query<VideoState>('video_state')).evidence,
    );
    expect(await pester(handle)).toEqual(expect.arrayContaining(['adopt', 'declareLost', 'resubmit']));
    await handle.executeUpdate('declareLost', {
      args: [{ sendId, by: 'the test', reason: 'it was not accepted' }],
    });
    expect(await started.result()).toMatchObject({ outcome: 'rejected', reason: 'declared_lost' });
    await noFault(made, started.workflowId);
  });

  it('an image call', async () => {
    const made = await stack();
    const started = await made.media.images.start(
      { request: { model: 'image-2', prompt: 'a kite [run:3s]' } },
      { as: 'workflow' },
    );
    const handle = made.server.client.workflow.getHandle(started.workflowId);
    expect(await pester(handle)).toEqual(['waits']);
    expect(await started.result()).toMatchObject({ outcome: 'completed' });
    await noFault(made, started.workflowId);
  });

  it('a campaign and its batch', async () => {
    const made = await stack();
    const { media, server } = made;
    const rows = [{ id: 'one', model: 'cine-1', prompt: 'a hill [run:600s]', duration: 2 }];
    const id = server.uniqueId('spring');
    const started = await media.campaigns.start({ manifest: await storedManifest(made, rows) }, { id });
    const campaign = server.client.workflow.getHandle(id);
    const batch = server.client.workflow.getHandle(batchWorkflowId(id, 0));
    await eventually('a row at the service', async () => (await media.campaigns.state(id)).inFlight === 1);

    const updates = Object.values(UPDATE).filter((name) => name !== UPDATE.resubmit);
    expect(await Promise.all([pester(campaign), pester(batch)])).toEqual([
      expect.arrayContaining(['campaign_report', 'campaign_state', 'waits', ...updates]),
      expect.arrayContaining(['campaign_orders', 'batch_state']),
    ]);
    // The client says it as it says every refusal.
    expect(await media.campaigns.order(id, 'setConcurrency', { concurrency: 0.5 })).toEqual({
      accepted: false,
      message: 'concurrency must be a whole number from 1 to 1000000.',
    });
    for (const order of ['pause', 'resume'] as const)
      for (const value of [null, {}, [], 'text'])
        expect(await campaign.executeUpdate(order, { args: [value] })).toMatchObject({ accepted: true });
    await completeTasks(made);
    expect(await started.result()).toMatchObject({ outcome: 'completed', counts: { completed: 1 } });
    for (const workflowId of [id, batchWorkflowId(id, 0)]) await noFault(made, workflowId);
  });
});
