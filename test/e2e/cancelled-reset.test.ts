import { type WorkflowHandle } from '@temporalio/client';
import { type VideoOutcome } from '../../src/domain';
import { given } from '../../src/domain/json';
import { ACTIVITY, WORKFLOW } from '../../src/domain/names';
import { accepted, received } from '../support/accepted';
import { deferred } from '../support/deferred';
import { eventually } from '../support/eventually';
import { handMadeWorker } from '../support/hand-made-worker';
import { alwaysBound } from '../support/queue-binding';
import { resetWorkflow } from '../support/reset-workflow';
import { sharedStack } from '../support/shared-stack';

/** A reset run that is cancelled names the task that the run before it bought, and calls nothing free (C1.8). */
describe('a reset run that is cancelled', () => {
  const stack = sharedStack({}, async () => undefined);

  async function start(prompt: string, taskQueue: string): Promise<WorkflowHandle> {
    const { server } = await stack();
    return server.client.workflow.start(WORKFLOW.generateVideo, {
      taskQueue,
      workflowId: server.uniqueId('cancelled-reset'),
      args: [{ request: { model: 'cine-1', prompt, durationSeconds: 2 } }],
    });
  }

  const taskOf = (prompt: string): Promise<string> =>
    eventually(
      'the task',
      async () => (await (await stack()).sandbox.admin.tasks()).find((task) => task.prompt === prompt)?.id,
    );

  const polled = (taskId: string): Promise<true> =>
    eventually('a poll', async () => {
      const polls = await (await stack()).sandbox.admin.requests({ operation: 'poll' });
      return polls.some((poll) => poll.taskId === taskId) ? true : undefined;
    });

  async function cancelSeen(handle: WorkflowHandle): Promise<void> {
    await handle.cancel();
    await eventually('the cancellation', async () =>
      (await handle.fetchHistory()).events?.some(
        (event) => event.workflowExecutionCancelRequestedEventAttributes != null,
      ),
    );
  }

  /** A queue whose worker can be away. */
  async function ownQueue() {
    const media = await stack();
    const taskQueue = media.server.uniqueId('cancelled-reset');
    const env = { MEDIA_TASK_QUEUE: taskQueue };
    return { taskQueue, startWorker: () => media.startWorker({ env, ownConnection: true }) };
  }

  async function refuse(promptIncludes: string): Promise<void> {
    const { sandbox } = await stack();
    await sandbox.admin.addFaults([
      { operation: 'create', promptIncludes, action: { type: 'status', status: 401 } },
    ]);
  }

  const outcomeOf = (handle: WorkflowHandle): Promise<VideoOutcome> =>
    handle.result() as Promise<VideoOutcome>;

  it.concurrent('[C4.4b] in the moment in which it learns that another run recorded the task', async () => {
    const prompt = '[run:60s] a heron that another run bought';
    const lenientClient = deferred<void>();
    const look = deferred<void>();
    let creates = 0;
    const worker = await handMadeWorker(await stack(), {}, (real) => ({
      // The second one, of the reset run, is lost before it could compare anything.
      [ACTIVITY.createVideo]: async (input) => {
        if (++creates === 2) throw new Error('lost');
        return real[ACTIVITY.createVideo](input);
      },
      [ACTIVITY.reconcileCreate]: async (input) => {
        lenientClient.resolve();
        await look.promise;
        return real[ACTIVITY.reconcileCreate](input);
      },
    }));
    await worker.runUntil(async () => {
      const first = await start(prompt, worker.taskQueue);
      const taskId = await taskOf(prompt);
      await polled(taskId);
      const second = await resetWorkflow((await stack()).server, first.workflowId);
      await lenientClient.promise;
      await cancelSeen(second);
      look.resolve();
      expect(await outcomeOf(second)).toMatchObject({
        outcome: 'cancelled',
        video: { taskId },
        billing: { state: 'needs_review' },
      });
    });
    expect(await accepted(await stack(), prompt)).toBe(1);
  });

  it.concurrent('[C4.4b] before it asks for the create at all', async () => {
    const prompt = '[run:60s] a heron that nobody waits for';
    const { taskQueue, startWorker } = await ownQueue();
    const before = await startWorker();
    const first = await start(prompt, taskQueue);
    const taskId = await taskOf(prompt);
    await polled(taskId);
    await before.stop();
    const second = await resetWorkflow((await stack()).server, first.workflowId);
    await cancelSeen(second);
    await startWorker();
    expect(await outcomeOf(second)).toMatchObject({
      outcome: 'cancelled',
      video: { taskId },
      billing: { state: 'needs_review' },
    });
    expect(await accepted(await stack(), prompt)).toBe(1);
  });

  it.concurrent('[C4.4a] buys nothing when the run before it was refused: the send that is allowed now is not made', async () => {
    const prompt = 'a heron that was refused';
    const { taskQueue, startWorker } = await ownQueue();
    const before = await startWorker();
    await refuse(prompt);
    const first = await start(prompt, taskQueue);
    expect(await outcomeOf(first)).toMatchObject({ outcome: 'rejected', reason: 'credentials' });
    await before.stop();
    const second = await resetWorkflow((await stack()).server, first.workflowId);
    await cancelSeen(second);
    await startWorker();
    expect(await outcomeOf(second)).toMatchObject({
      outcome: 'cancelled',
      video: null,
      billing: { state: 'none' },
    });
    expect(await received(await stack(), prompt)).toBe(1);
  });

  it.concurrent('[C4.4a] buys nothing where a worker of an earlier version takes no notice of what it is asked for', async () => {
    const prompt = 'a heron that an old worker would buy';
    await refuse(prompt);
    const lenientClient = deferred<void>();
    const look = deferred<void>();
    let creates = 0;
    const worker = await handMadeWorker(await stack(), { standing: alwaysBound }, (real) => ({
      [ACTIVITY.createVideo]: async ({ creationKey, sender, request }) => {
        if (++creates === 2) throw new Error('lost');
        return real[ACTIVITY.createVideo]({ creationKey, ...given({ sender }), request });
      },
      [ACTIVITY.reconcileCreate]: async (input) => {
        lenientClient.resolve();
        await look.promise;
        return real[ACTIVITY.reconcileCreate](input);
      },
    }));
    await worker.runUntil(async () => {
      const first = await start(prompt, worker.taskQueue);
      expect(await outcomeOf(first)).toMatchObject({ outcome: 'rejected', reason: 'credentials' });
      const second = await resetWorkflow((await stack()).server, first.workflowId);
      await lenientClient.promise;
      await cancelSeen(second);
      look.resolve();
      expect(await outcomeOf(second)).toMatchObject({
        outcome: 'cancelled',
        video: null,
        billing: { state: 'needs_review' },
      });
    });
    // The last one was held back by the refusal, which stands for its account.
    expect(creates).toBe(3);
    expect(await received(await stack(), prompt)).toBe(1);
  });
});
