import { type VideoOutcome } from '../../src/domain';
import { ACTIVITY, WORKFLOW } from '../../src/domain/names';
import { startFlakyWorker } from '../proof/temporal-faults/flaky-worker';
import { accepted } from '../support/accepted';
import { deferred } from '../support/deferred';
import { eventually } from '../support/eventually';
import { startMediaStack, type MediaStack } from '../support/media-stack';

/** What an operator may do to an activity must not make a paid create look as if no worker ever had it. */
describe('a create that an operator reset, heartbeats and all', () => {
  let stack: MediaStack;
  beforeEach(async () => {
    stack = await startMediaStack();
  });
  afterEach(() => stack.stop());

  it('[C4.4b] is looked up in the journal, however long that takes, and its video comes', async () => {
    const prompt = 'a heron that was bought before the reset';
    const { client, namespace } = stack.server;
    const flows = await stack.startWorker();
    const creates = await startFlakyWorker(stack);
    const recorded = deferred<void>();
    const gate = deferred<void>();
    creates.script(prompt, async (real) => {
      await real();
      recorded.resolve();
      await gate.promise;
      throw new Error('the result is lost');
    });
    const handle = await client.workflow.start(WORKFLOW.generateVideo, {
      taskQueue: stack.taskQueue,
      workflowId: stack.server.uniqueId('activity-reset'),
      args: [
        {
          request: { model: 'cine-1', prompt, durationSeconds: 2 },
          startLimit: '1s',
          queues: { create: creates.taskQueue },
        },
      ],
    });
    await recorded.promise;
    const target = { namespace, execution: { workflowId: handle.workflowId }, type: ACTIVITY.createVideo };
    const service = client.workflowService;
    await service.pauseActivity({ ...target, reason: 'a look around' });
    gate.resolve();
    await eventually('the failed attempt', async () => {
      const [pending] = (await handle.describe()).raw.pendingActivities ?? [];
      return pending?.lastFailure != null;
    });
    await creates.stop();
    // The operator takes some time: what is done within the very seconds of the first try nobody can tell apart.
    await eventually('some time', async () => {
      const { startTime } = await handle.describe();
      return Date.now() - startTime.getTime() > 15_000;
    });
    await service.resetActivity({ ...target, resetHeartbeat: true });
    const asked = await eventually(
      'the reconciliation',
      async () =>
        (await handle.fetchHistory()).events
          ?.map((event) => event.activityTaskScheduledEventAttributes)
          .find((scheduled) => scheduled?.activityType?.name === ACTIVITY.reconcileCreate),
      120_000,
    );
    expect(Number(asked?.scheduleToStartTimeout?.seconds)).toBe(24 * 60 * 60);
    const coming = await startFlakyWorker(stack, creates.taskQueue);
    expect((await handle.result()) as VideoOutcome).toMatchObject({ outcome: 'completed' });
    expect(await accepted(stack, prompt)).toBe(1);
    await coming.stop();
    await flows.stop();
  });
});
