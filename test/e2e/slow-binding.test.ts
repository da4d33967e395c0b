import { join } from 'node:path';
import { createFileJournal } from '../../src/activities';
import { type CreateJournal } from '../../src/domain/journal';
import { ACTIVITY, WORKFLOW } from '../../src/domain/names';
import { type VideoOutcome } from '../../src/domain/outcome';
import { CREATE_TIMEOUTS } from '../../src/domain/timeouts';
import { accepted } from '../support/accepted';
import { deferred } from '../support/deferred';
import { eventually } from '../support/eventually';
import { handMadeWorker } from '../support/hand-made-worker';
import { type MediaStack } from '../support/media-stack';
import { sharedStack } from '../support/shared-stack';
import { testBundle } from '../support/test-bundle';

/** Until a new queue is bound, its first paid call waits: that may take longer than a silent attempt may live. */
describe('the first paid call of a queue that is not bound yet', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 500 } } }, () => testBundle());

  it.concurrent('[C4.4a] is made however long the binding takes', async () => {
    const own = await stack();
    const taskQueue = own.server.uniqueId('slow');
    const prompt = 'a slow volume';
    const bound = deferred<void>();
    const journal = journalOf(own, taskQueue);
    const slow: CreateJournal = { ...journal, identity: () => bound.promise.then(() => journal.identity()) };
    const worker = await handMadeWorker(own, { journal: slow }, undefined, taskQueue);
    const outcome = await worker.runUntil(async () => {
      const started = await order(own, taskQueue, prompt);
      await eventually(
        'an attempt that outlived its heartbeat timeout, or did not',
        async () => {
          const [create] = (await started.describe()).raw.pendingActivities ?? [];
          if (create?.activityType?.name !== ACTIVITY.createVideo) return create !== undefined;
          const [startedAt, beaten] = [create.lastStartedTime, create.lastHeartbeatTime].map(
            (time) => Number(time?.seconds ?? 0) * 1000,
          );
          return (beaten ?? 0) > (startedAt ?? 0) + CREATE_TIMEOUTS.heartbeatMs;
        },
        60_000,
      );
      bound.resolve();
      return started.result() as Promise<VideoOutcome>;
    });
    // The message says why, should it not be completed.
    expect([outcome.outcome, 'message' in outcome && outcome.message]).toEqual(['completed', false]);
    expect(await accepted(own, prompt)).toBe(1);
  });

  it.concurrent('does not close the queue when its worker was lost before it said anything', async () => {
    const own = await stack();
    const taskQueue = own.server.uniqueId('lost');
    const over = deferred<never>();
    over.promise.catch(() => undefined);
    let calls = 0;
    const worker = await handMadeWorker(
      own,
      { journal: journalOf(own, taskQueue) },
      ({ [ACTIVITY.createVideo]: create }) => ({
        [ACTIVITY.createVideo]: (input) => (calls++ === 0 ? over.promise : create(input)),
      }),
      taskQueue,
    );
    await worker.runUntil(async () => {
      try {
        const lost = await order(own, taskQueue, 'lost');
        await eventually('a create that was given up', async () =>
          (await lost.fetchHistory()).events?.some((event) => event.activityTaskTimedOutEventAttributes),
        );
        const next = await order(own, taskQueue, 'next');
        expect(await next.result()).toMatchObject({ outcome: 'completed' });
        // The first journal of the queue proves that it was not sent: it is sent then, once.
        expect(await lost.result()).toMatchObject({ outcome: 'completed' });
        expect(await accepted(own, 'lost')).toBe(1);
      } finally {
        over.reject(new Error('The worker is stopped.'));
      }
    });
  });

  function journalOf(own: MediaStack, taskQueue: string): CreateJournal {
    return createFileJournal({ root: join(own.dataDir, taskQueue) });
  }

  function order(own: MediaStack, taskQueue: string, prompt: string) {
    return own.server.client.workflow.start(WORKFLOW.generateVideo, {
      taskQueue,
      workflowId: own.server.uniqueId('order'),
      // A call that meets the doubtful heartbeat of another one is refused for a moment, and goes on.
      args: [{ request: { model: 'cine-1', prompt, durationSeconds: 2 }, startLimit: '1 minute' }],
    });
  }
});
