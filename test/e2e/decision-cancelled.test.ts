import { TemporalMediaClient } from '../../src/client';
import { ACTIVITY, UPDATE } from '../../src/domain/names';
import { type ResolveUnconfirmedResult } from '../../src/domain/unconfirmed-decision';
import { answers } from '../domain/create-answers';
import { eventually } from '../support/eventually';
import { handMadeWorker } from '../support/hand-made-worker';
import { sharedStack } from '../support/shared-stack';

/** A cancellation that comes while an accepted decision is carried out. */
describe('a workflow that is cancelled while a decision is carried out', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 500 } } });

  it('[C7.10] answers the Update, sends nothing more, and does not say that nothing is owed', async () => {
    const shared = await stack();
    let started: () => void;
    let finish: () => void;
    const hasStarted = new Promise<void>((resolve) => (started = resolve));
    const mayFinish = new Promise<void>((resolve) => (finish = resolve));
    let creates = 0;
    const worker = await handMadeWorker(shared, {}, () => ({
      [ACTIVITY.createVideo]: async () => {
        creates += 1;
        return answers.unconfirmed(0);
      },
      [ACTIVITY.resolveUnconfirmed]: async ({ creationKey, decision }): Promise<ResolveUnconfirmedResult> => {
        started();
        await mayFinish;
        return { resolved: true, decision, creationKey, sendAttempt: 0, answer: null, message: 'authorised' };
      },
    }));
    await worker.runUntil(async () => {
      const { client } = shared.server;
      const media = new TemporalMediaClient(client, { taskQueue: worker.taskQueue });
      const id = shared.server.uniqueId('cancelled-decision');
      const request = { model: 'cine-1', prompt: 'decided and cancelled', durationSeconds: 2 };
      const started = await media.startVideo({ request, onUnconfirmed: 'wait' }, { id });
      await eventually('the wait', async () => (await media.videoState(id)).phase === 'unconfirmed');
      const handle = client.workflow.getHandle(id);
      const who = { by: 'ada', reason: 'looked into the console' };
      const decided = handle.executeUpdate(UPDATE.resubmit, { args: [who] });
      await hasStarted;
      await handle.cancel();
      finish();
      await expect(decided).resolves.toMatchObject({ resolved: true, decision: 'resubmit' });
      expect(await started.result()).toMatchObject({
        outcome: 'cancelled',
        billing: { state: 'needs_review' },
      });
      expect(creates).toBe(1);
    });
  });
});
