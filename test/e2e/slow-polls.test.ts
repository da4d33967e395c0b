import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sandboxModels } from '../../packages/sandbox/src/models';
import { startCampaign, type Row } from '../support/campaign';
import { sharedStack } from '../support/shared-stack';

/** Every GET of a record takes nearly as long as the time from one tick to the next. */
describe('a service that needs about an interval to answer a poll', () => {
  const slow = (ms: number) => [{ operation: 'poll', times: 0, action: { type: 'delay', ms } }] as const;

  describe('3.45 s at ticks of 4 s', () => {
    const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 6_000 } } });

    it('[C3.2] [C8.2] finishes every row of a campaign with about one GET for each interval', async () => {
      const media = await stack();
      await media.sandbox.admin.addFaults([...slow(3_450)]);
      const rows = Array.from({ length: 4 }, (_unused, n): Row => ({
        id: `r${n}`,
        model: 'cine-1',
        prompt: `a kite ${n}`,
        duration: 2,
      }));
      const campaign = await startCampaign(media, rows, { waitFor: '2 minutes' });
      expect((await campaign.result()).counts).toEqual({ completed: 4 });
      const { creates, operations } = await media.sandbox.admin.counters();
      expect(creates).toEqual({ received: 4, accepted: 4 });
      // Done 6 s after the create; the first GET that says so leaves at 8 s and is heard at 12 s, beside one more.
      expect(operations.poll.received).toBeLessThanOrEqual(4 * 6);
    });
  });

  describe('2.5 s at ticks of exactly 3 s', () => {
    const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 3_000 } } }, async (media) => {
      const everyThree = sandboxModels.models.map((model) =>
        model.id === 'cine-1'
          ? { ...model, polling: { minSeconds: 3, maxSeconds: 3, firstPollSeconds: 3 } }
          : model,
      );
      const file = join(media.dataDir, 'models.json');
      await writeFile(file, JSON.stringify({ ...sandboxModels, models: everyThree }));
      await media.startWorker({ env: { MEDIA_MODELS: file } });
    });

    it('[C3.2] finishes a video', async () => {
      const { media, sandbox } = await stack();
      await sandbox.admin.addFaults([...slow(2_500)]);
      const request = { model: 'cine-1', prompt: 'a kite', durationSeconds: 2 };
      const outcome = await (await media.startVideo({ request, waitFor: '60s' })).result();
      expect(outcome.outcome).toBe('completed');
      expect((await sandbox.admin.counters()).operations.poll.received).toBeLessThanOrEqual(6);
    });
  });
});
