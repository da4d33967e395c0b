import { type VideoOutcome } from '../../src/domain';
import { type FaultRule } from '../../src/testing/sandbox';
import { accepted, received } from '../support/accepted';
import { startCrashingWorker } from '../support/crashing-process';
import { eventually } from '../support/eventually';
import { sharedStack } from '../support/shared-stack';

const LIMIT_MS = 180_000;

/** A worker process dies by SIGKILL; another one takes over on the same journal (failure-model rows 4 to 8). */
describe('a worker killed', () => {
  const stack = sharedStack(
    { sandbox: { timing: { queuedMs: 0, runningMs: 1_000 } } },
    async () => undefined,
  );

  const request = (prompt: string, model = 'cine-1', durationSeconds = 2) => ({
    model,
    prompt,
    durationSeconds,
  });

  const requestsOf = async (operation: string, taskId: string) =>
    (await (await stack()).sandbox.admin.requests()).filter(
      (seen) => seen.operation === operation && seen.taskId === taskId,
    );

  const taskOf = async (prompt: string) =>
    (await (await stack()).sandbox.admin.tasks()).find((task) => task.prompt === prompt)?.id;

  async function selfKilled(
    prompt: string,
    at: 'before_slot' | 'after_slot' | 'after_outcome',
  ): Promise<VideoOutcome> {
    const worker = await startCrashingWorker(await stack(), at);
    const started = await worker.media.startVideo({ request: request(prompt) });
    await worker.gone;
    await worker.startSuccessor();
    return started.result();
  }

  it.concurrent(
    '[C7.6] before the slot: the fence proves that nothing was sent, and it is sent once',
    async () => {
      const prompt = 'killed before the slot';
      expect(await selfKilled(prompt, 'before_slot')).toMatchObject({ outcome: 'completed' });
      expect(await received(await stack(), prompt)).toBe(1);
      expect(await accepted(await stack(), prompt)).toBe(1);
    },
    LIMIT_MS,
  );

  it.concurrent(
    '[C4.4c] at the slot, before the send: nobody can know, so nothing is sent again',
    async () => {
      const prompt = 'killed at the slot';
      const outcome = await selfKilled(prompt, 'after_slot');
      expect(outcome).toMatchObject({
        outcome: 'unconfirmed',
        evidence: {
          cause: 'no_outcome_recorded',
          model: 'cine-1',
          durationSeconds: 2,
          referenceMode: 'none',
        },
        billing: { state: 'needs_review' },
      });
      expect(await received(await stack(), prompt)).toBe(0);
    },
    LIMIT_MS,
  );

  it.concurrent(
    '[C4.4b] after the outcome was recorded: the task is not lost, and there is one create',
    async () => {
      const prompt = 'killed after the outcome';
      const outcome = await selfKilled(prompt, 'after_outcome');
      const taskId = await taskOf(prompt);
      expect(outcome).toMatchObject({
        outcome: 'completed',
        video: { taskId, model: 'cine-1', durationSeconds: 2 },
      });
      expect(await received(await stack(), prompt)).toBe(1);
    },
    LIMIT_MS,
  );

  it.concurrent(
    '[C4.4a] [C3.3] with a create, a poll and a download open: one create each, and what was recorded is finished',
    async () => {
      const { sandbox } = await stack();
      const prompts = {
        sent: 'killed after the send',
        polled: 'killed in a poll tick',
        // Answers itself, so that the slow body is the content endpoint's own.
        downloaded: 'killed in a download',
      };
      const faults: FaultRule[] = [
        {
          operation: 'create',
          promptIncludes: prompts.sent,
          action: { type: 'lose_reply', accepted: true, how: 'stall' },
        },
        { operation: 'poll', promptIncludes: prompts.polled, action: { type: 'delay', ms: 30_000 } },
        {
          operation: 'content',
          promptIncludes: prompts.downloaded,
          action: { type: 'slow_body', bytesPerSecond: 200 },
        },
      ];
      await sandbox.admin.addFaults(faults);
      const worker = await startCrashingWorker(await stack());
      const start = async (input: ReturnType<typeof request>) => {
        const started = await worker.media.startVideo({ request: input });
        return started.result();
      };
      const downloaded = start(request(prompts.downloaded, 'motion-omni', 3));
      const downloading = await eventually('the task', () => taskOf(prompts.downloaded));
      await eventually(
        'a download under way',
        async () => (await requestsOf('content', downloading)).length > 0,
      );
      const polled = start(request(prompts.polled));
      const watched = await eventually('the task', () => taskOf(prompts.polled));
      const sent = start(request(prompts.sent));
      await eventually('the create', async () => (await accepted(await stack(), prompts.sent)) === 1);
      await eventually('a poll under way', async () => (await requestsOf('poll', watched)).length > 0);
      await worker.kill();
      await worker.startSuccessor();

      expect(await polled).toMatchObject({ outcome: 'completed', video: { taskId: watched } });
      expect(await downloaded).toMatchObject({ outcome: 'completed', video: { taskId: downloading } });
      expect(await sent).toMatchObject({
        outcome: 'unconfirmed',
        evidence: { cause: 'no_outcome_recorded', model: 'cine-1' },
      });
      for (const prompt of Object.values(prompts)) expect(await received(await stack(), prompt)).toBe(1);
    },
    LIMIT_MS,
  );
});
