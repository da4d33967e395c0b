import { ApplicationFailure } from '@temporalio/common';
import { CampaignInputError } from '../../src/client';
import { type MediaActivities } from '../../src/domain/activities';
import { batchWorkflowId } from '../../src/domain/campaign/budget-book';
import { ACTIVITY } from '../../src/domain/names';
import { campaignStateOf, resultsOf, type Row, startCampaign, storedManifest } from '../support/campaign';
import { accepted, total } from '../support/campaign-books';
import { deferred } from '../support/deferred';
import { eventually } from '../support/eventually';
import { handMadeWorker } from '../support/hand-made-worker';
import { sharedStack } from '../support/shared-stack';

/** History events after which a batch hands back, where images and videos are mixed. */
const FULL = 40;
const KEEPING = [ACTIVITY.openPage, ACTIVITY.recordRows, ACTIVITY.foldResults] as const;

const films = (count: number, prompt: string): Row[] =>
  Array.from({ length: count }, (_, n) => ({
    id: `video-${n}`,
    model: 'cine-1',
    prompt: `${prompt} ${n}`,
    duration: 2,
  }));

describe('a campaign on the real server', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 300 }, videos: 'shared' } });

  it.concurrent('buys every row once, keeps what came and says what the others came to', async () => {
    const rows = [
      ...films(4, 'a kite number'),
      { id: 'moderated', model: 'cine-1', prompt: '[fail:moderation] a kite', duration: 2 },
      { id: 'image', operation: 'image', model: 'image-2', prompt: 'a paper boat', size: '1024x1024' },
      { id: 'lost', model: 'cine-1', prompt: '[lost-reply] a kite that is lost', duration: 2 },
    ];
    const media = await stack();
    const handle = await startCampaign(media, rows);
    const result = await handle.result();
    expect(result).toMatchObject({
      outcome: 'completed',
      counts: { completed: 5, failed: 1, unconfirmed: 1 },
      currency: 'USD',
    });
    const lines = await resultsOf(media, result.results);
    expect(lines.size).toBe(7);
    expect(lines.get('video-3')).toMatchObject({
      outcome: 'completed',
      attempt: 0,
      ledger: [{ creationKey: `media-row/${handle.workflowId}/video-3/0`, estimate: 100_000 }],
    });
    expect(lines.get('video-3')?.artifacts).toHaveLength(1);
    expect(lines.get('image')?.artifacts).toHaveLength(1);
    expect(lines.get('moderated')).toMatchObject({ outcome: 'failed', errorKind: 'moderation' });
    expect(lines.get('lost')).toMatchObject({ outcome: 'unconfirmed' });
    expect([...(await accepted(media, rows)).values()]).toEqual(rows.map(() => 1));
  });

  it.concurrent('[C2.2.4] tells of rows under way what the service said last', async () => {
    const media = await stack();
    const prompt = '[queue:0s] [run:8s] a kite that takes its time';
    const handle = await startCampaign(media, [{ id: 'slow', model: 'cine-1', prompt, duration: 2 }]);
    await eventually('a record of the task', async () => {
      const [row] = (await media.media.campaigns.state(handle.workflowId)).active;
      return row?.status === 'in_progress' && (row.progress ?? 0) > 0;
    });
    expect((await handle.result()).counts).toEqual({ completed: 1 });
    expect((await media.media.campaigns.state(handle.workflowId)).active).toEqual([]);
  });

  it.concurrent('buys its own rows beside another one, and a small one does not wait for it', async () => {
    const media = await stack();
    const rows = films(12, 'a kite for two');
    const large = await startCampaign(media, rows, { concurrency: 3 });
    const few = rows.slice(0, 2);
    const small = await startCampaign(media, few, { concurrency: 3, fairnessWeight: 2, priority: 2 });
    const first = await small.result();
    const meanwhile = await campaignStateOf(large);
    expect(meanwhile.phase).toBe('running');
    const second = await large.result();
    expect([first.counts, second.counts]).toEqual([{ completed: 2 }, { completed: 12 }]);
    // The same text bought twice is two purchases, each on the books of its own campaign.
    expect(total(await accepted(media, rows))).toBe(14);
    for (const [handle, { results }, count] of [
      [small, first, 2],
      [large, second, 12],
    ] as const) {
      const lines = [...(await resultsOf(media, results)).values()];
      expect(lines).toHaveLength(count);
      for (const { key, ledger } of lines)
        expect(ledger.map(({ creationKey }) => creationKey)).toEqual([
          `media-row/${handle.workflowId}/${key}/0`,
        ]);
    }
  });

  it.concurrent('has an id of any script: what batches share fairly by fits the server', async () => {
    const { media, server } = await stack();
    const id = server.uniqueId(`весна-${'я'.repeat(60)}`);
    const manifest = await storedManifest(await stack(), films(1, 'a hill'));
    const started = await media.campaigns.start({ manifest }, { id });
    expect(await started.result()).toMatchObject({ outcome: 'completed', counts: { completed: 1 } });
  });

  it.concurrent('starts nothing with what it cannot begin with, and hides no earlier results', async () => {
    const { media, server } = await stack();
    const id = server.uniqueId('spring');
    const manifest = await storedManifest(await stack(), films(1, 'another hill'));
    const first = await media.campaigns.start({ manifest }, { id });
    await first.result();
    const budget = { microUnits: 100_000.5, currency: 'USD' };
    await expect(media.campaigns.resume(id, { budget })).rejects.toBeInstanceOf(CampaignInputError);
    await expect(media.campaigns.start({ manifest, priority: -1 }, { id })).rejects.toThrow(
      `Campaign "${id}" cannot be started: priority must be a whole number from 1 to 5. Nothing was started.`,
    );
    const again = await media.campaigns.start({ manifest }, { id });
    expect(await again.result()).toMatchObject({ counts: { completed: 1 }, plan: { planned: 0, done: 1 } });
  });

  it.concurrent('creates videos while an image call takes long', async () => {
    const media = await stack();
    const image: Row = {
      id: 'image',
      operation: 'image',
      model: 'image-2',
      prompt: '[run:16s] a boat',
      size: '512x512',
    };
    const input = { concurrency: 4, eventsPerRun: FULL };
    const handle = await startCampaign(media, [image, ...films(16, 'a boat')], input);
    const result = await handle.result();
    expect(result.counts).toEqual({ completed: 17 });

    const { workflow } = media.server.client;
    const id = batchWorkflowId(handle.workflowId, 0);
    const { events } = await workflow.getHandle(id).fetchHistory();
    const scheduled = (events ?? []).flatMap(({ eventId, activityTaskScheduledEventAttributes: asked }) =>
      asked == null ? [] : [{ at: Number(eventId), name: asked.activityType?.name }],
    );
    const drawn = (events ?? []).findIndex(
      ({ activityTaskCompletedEventAttributes: done }) =>
        Number(done?.scheduledEventId) === scheduled.find(({ name }) => name === ACTIVITY.campaignImage)?.at,
    );
    // The image call was open when the history was full; the batch waited for its end, and bought videos meanwhile.
    expect(drawn).toBeGreaterThan(FULL);
    const late = scheduled.filter(
      ({ name, at }) => name === ACTIVITY.createVideos && at > FULL && at < drawn,
    );
    expect(late.length).toBeGreaterThan(0);
  });

  it.concurrent('forgets no bought row when somebody fails its activities by hand', async () => {
    const media = await stack();
    const failed = new Set<string>();
    const failsOnce =
      (activities: MediaActivities, name: (typeof KEEPING)[number]) => async (input: never) => {
        if (failed.has(name)) return activities[name](input);
        failed.add(name);
        // `temporal activity fail`: an activity that ends without being tried again.
        throw ApplicationFailure.nonRetryable('failed by an operator');
      };
    const worker = await handMadeWorker(media, {}, (activities) =>
      Object.fromEntries(KEEPING.map((name) => [name, failsOnce(activities, name)])),
    );
    const { taskQueue } = worker;
    const rows = films(2, 'a kite failed by hand');
    const result = await worker.runUntil(async () => {
      const handle = await startCampaign({ ...media, taskQueue }, rows);
      return handle.result();
    });
    expect([...failed]).toEqual([...KEEPING]);
    expect(result).toMatchObject({ outcome: 'completed', counts: { completed: 2 } });
    expect(result.results).toMatchObject({ segments: [], indexes: [expect.any(String)] });
    expect(total(await accepted(media, rows))).toBe(2);
  });

  it.concurrent('goes on with rows while its manifest is read again for those that are resumed', async () => {
    const media = await stack();
    const read = deferred<void>();
    const worker = await handMadeWorker(media, {}, (activities: MediaActivities) => ({
      [ACTIVITY.planCampaign]: async (input) => {
        if (input.select.rows !== 'missing') await read.promise;
        return activities[ACTIVITY.planCampaign](input);
      },
    }));
    const { taskQueue } = worker;
    // More rows than the open batches take: somebody has to give them out.
    const invalid = { id: 'invalid', model: 'cine-1', prompt: '[fail:invalid] a kite', duration: 2 };
    const rows = [invalid, ...films(39, 'a kite read again')];
    const result = await worker.runUntil(async () => {
      const input = { concurrency: 2, rowsPerBatch: 2, maxAttempts: 1 };
      const handle = await startCampaign({ ...media, taskQueue }, rows, input);
      const counts = async () => (await campaignStateOf(handle)).counts;
      await eventually('a failed row', async () => (await counts()).failed === 1, 60_000);
      await handle.executeUpdate('resumeRows', { args: [{ select: { rows: 'retry' } }] });
      expect((await counts()).completed ?? 0).toBeLessThan(20);
      await handle.executeUpdate('setConcurrency', { args: [{ concurrency: 20 }] });
      await eventually('all other rows', async () => (await counts()).completed === 39, 100_000);
      expect(await campaignStateOf(handle)).toMatchObject({ phase: 'running', plan: { generation: 0 } });
      read.resolve();
      return handle.result();
    });
    expect(result).toMatchObject({
      outcome: 'completed',
      counts: { completed: 39, failed: 1 },
      plan: { generation: 1, planned: 1 },
    });
    expect(total(await accepted(media, rows))).toBe(41);
  });
});
