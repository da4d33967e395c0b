import { TemporalMediaClient } from '../../src/client';
import { accepted, received } from '../support/accepted';
import { campaignStateOf, startCampaign, type Row } from '../support/campaign';
import { eventually } from '../support/eventually';
import { handMadeWorker } from '../support/hand-made-worker';
import { startMediaStack, type MediaStack } from '../support/media-stack';

/** Instead of a minute, which is the matter of test/activities/refusal-gate.test.ts. */
const PROBE_MS = 15_000;
/** The one that is refused, and two probes if the test looks late. */
const A_HANDFUL = 3;

async function withStack(work: (stack: MediaStack) => Promise<void>): Promise<void> {
  const stack = await startMediaStack({
    sandbox: { timing: { queuedMs: 0, runningMs: 200 }, videos: 'shared' },
  });
  try {
    const worker = await handMadeWorker(stack, { refusalProbeMs: PROBE_MS });
    const { taskQueue } = worker;
    const media = new TemporalMediaClient(stack.server.client, { taskQueue });
    await worker.runUntil(() => work({ ...stack, taskQueue, media }));
  } finally {
    await stack.stop();
  }
}

describe('an account that the service refuses', () => {
  it.concurrent('[C7.3] a revoked key is asked about by one probe at a time; when it is mended, all rows complete', () =>
    withStack(async (stack) => {
      const { sandbox, media } = stack;
      await sandbox.admin.addFaults([
        { operation: 'create', times: 0, action: { type: 'status', status: 401, body: { error: 'no' } } },
      ]);
      const rows = Array.from({ length: 12 }, (_, row) => ({
        id: `row-${row}`,
        model: 'cine-1',
        prompt: `row ${row}`,
        duration: 2,
      }));
      const campaign = await startCampaign(stack, rows);
      const why = await eventually('why rows wait', async () =>
        (await campaignStateOf(campaign)).notes.find((note) => note.startsWith('Rows wait')),
      );
      expect(why).toMatch(/HTTP 401.*Nothing was sent.*next check is at/);
      const video = await media.startVideo({ request: { model: 'sketch-lite', prompt: 'alone' } });
      const state = await eventually('a video that waits', async () => {
        const seen = await media.videoState(video.workflowId).catch(() => undefined);
        return seen?.phase === 'waiting_to_create' && seen;
      });
      expect(state.waitingFor).toContain('has rejected calls from account');
      expect(state.nextCreateAt).not.toBeNull();
      expect((await sandbox.admin.counters()).creates.received).toBeLessThanOrEqual(A_HANDFUL);
      await sandbox.admin.clearFaults();
      const result = await campaign.result();
      expect(result).toMatchObject({ outcome: 'completed', counts: { completed: 12 } });
      expect(await video.result()).toMatchObject({ outcome: 'completed' });
      const counters = await sandbox.admin.counters();
      expect(counters.creates.accepted).toBe(13);
      expect(counters.creates.received).toBeLessThanOrEqual(13 + A_HANDFUL);
    }));

  it.concurrent('an empty balance holds back image rows and a single image; when it is filled, each is bought once', () =>
    withStack(async (stack) => {
      const { sandbox, media } = stack;
      const body = { error: { code: 'insufficient_balance', message: 'Top up.' } };
      await sandbox.admin.addFaults([
        { operation: 'generate', times: 0, action: { type: 'status', status: 402, body } },
      ]);
      const rows: Row[] = Array.from({ length: 6 }, (_, row) => ({
        id: `image-${row}`,
        operation: 'image',
        model: 'image-2',
        prompt: `image ${row}`,
        size: '512x512',
      }));
      const campaign = await startCampaign(stack, rows);
      await eventually('why rows wait', async () =>
        (await campaignStateOf(campaign)).notes.find((note) => /^Rows wait.*HTTP 402/.test(note)),
      );
      const image = await media.images.start({
        request: { model: 'image-2', prompt: 'alone', size: '512x512' },
      });
      expect((await sandbox.admin.counters()).images.received).toBeLessThanOrEqual(A_HANDFUL);
      expect(await received(stack, 'alone')).toBe(0);
      await sandbox.admin.clearFaults();
      expect(await campaign.result()).toMatchObject({ outcome: 'completed', counts: { completed: 6 } });
      expect(await image.result()).toMatchObject({ outcome: 'completed' });
      expect(await accepted(stack, 'alone')).toBe(1);
      expect((await sandbox.admin.counters()).images.accepted).toBe(7);
    }));

  it.concurrent('[C7.3] the same id after refused credentials is sent again: a person has mended them', () =>
    withStack(async (stack) => {
      const { sandbox, media, server } = stack;
      const id = server.uniqueId('order');
      const request = { model: 'sketch-lite', prompt: 'asked for with a key that was mended' };
      await sandbox.admin.addFaults([{ operation: 'create', action: { type: 'status', status: 401 } }]);
      const first = await (await media.startVideo({ request, startLimit: '2s' }, { id })).result();
      expect(first).toMatchObject({ outcome: 'rejected', reason: 'credentials', sends: 1 });
      expect(await received(stack, request.prompt)).toBe(1);
      const second = await (await media.startVideo({ request }, { id })).result();
      expect(second).toMatchObject({ outcome: 'completed' });
      expect(await accepted(stack, request.prompt)).toBe(1);
    }));
});
