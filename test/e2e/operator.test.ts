import { msToTs } from '@temporalio/common/lib/time';
import { type VideoOutcome } from '../../src/domain';
import { ACTIVITY, WORKFLOW } from '../../src/domain/names';
import { accepted, received } from '../support/accepted';
import { eventually } from '../support/eventually';
import { sharedStack } from '../support/shared-stack';
import { startMediaStack } from '../support/media-stack';

/** What an operator or a deployment may do to a create that is on its way (failure-model rows 12 and 15). */
describe('a create that is interfered with', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 1_000 } } });

  const request = (prompt: string) => ({ model: 'cine-1', prompt, durationSeconds: 2 });

  /** A video whose create is on the wire; the reply comes after `ms`. */
  async function creating(prompt: string, ms: number) {
    const { server, taskQueue, sandbox } = await stack();
    await sandbox.admin.addFaults([
      { operation: 'create', promptIncludes: prompt, action: { type: 'delay', ms } },
    ]);
    const handle = await server.client.workflow.start(WORKFLOW.generateVideo, {
      taskQueue,
      workflowId: server.uniqueId('operated'),
      args: [{ request: request(prompt) }],
    });
    await eventually('the send', async () => (await received(await stack(), prompt)) === 1);
    const target = {
      namespace: server.namespace,
      execution: { workflowId: handle.workflowId },
      type: ACTIVITY.createVideo,
      identity: 'operator',
    };
    return { handle, target, service: server.client.workflowService };
  }

  async function expectOneCompleted(result: Promise<unknown>, prompt: string): Promise<void> {
    expect((await result) as VideoOutcome).toMatchObject({ outcome: 'completed' });
    expect(await received(await stack(), prompt)).toBe(1);
    expect(await accepted(await stack(), prompt)).toBe(1);
  }

  it.concurrent('[C4.4a] paused and unpaused while it runs: sent once', async () => {
    const prompt = 'paused in mid-create';
    const { handle, target, service } = await creating(prompt, 3_000);
    await service.pauseActivity({ ...target, reason: 'a look around' });
    await service.unpauseActivity({ ...target, resetAttempts: true });
    await expectOneCompleted(handle.result(), prompt);
  });

  it.concurrent('[C4.4a] reset while it runs: sent once', async () => {
    const prompt = 'reset in mid-create';
    const { handle, target, service } = await creating(prompt, 3_000);
    await service.resetActivity({ ...target, resetHeartbeat: true });
    await expectOneCompleted(handle.result(), prompt);
  });

  it.concurrent(
    '[C4.4a] given more attempts and less time while it runs: the journal has the task, sent once',
    async () => {
      const prompt = 'hurried in mid-create';
      const { handle, target, service } = await creating(prompt, 4_000);
      await service.updateActivityOptions({
        ...target,
        activityOptions: {
          retryPolicy: { maximumAttempts: 3, initialInterval: msToTs('1s') },
          startToCloseTimeout: msToTs('2s'),
        },
        updateMask: { paths: ['retry_policy.maximum_attempts', 'start_to_close_timeout'] },
      });
      await expectOneCompleted(handle.result(), prompt);
    },
  );

  it.concurrent(
    '[C4.4a] its worker told to stop: the create is finished first, and another worker goes on',
    async () => {
      const prompt = 'drained in mid-create';
      const drained = await startMediaStack({ sandbox: { timing: { queuedMs: 0, runningMs: 1_000 } } });
      try {
        await drained.sandbox.admin.addFaults([
          { operation: 'create', promptIncludes: prompt, action: { type: 'delay', ms: 3_000 } },
        ]);
        const leaving = await drained.startWorker({ worker: { shutdownGraceTime: '75 seconds' } });
        const started = await drained.media.startVideo({ request: request(prompt) });
        await eventually('the send', async () => (await received(drained, prompt)) === 1);
        await leaving.stop();
        expect(await accepted(drained, prompt)).toBe(1);
        await drained.startWorker();
        const outcome = await started.result();
        if (outcome.outcome !== 'completed') throw new Error(outcome.outcome);
        expect(outcome.video.source).toBe('create_reply');
        expect(await received(drained, prompt)).toBe(1);
      } finally {
        await drained.stop();
      }
    },
  );
});
