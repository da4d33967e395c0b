import { batchWorkflowId } from '../../src/domain/campaign/budget-book';
import { ACTIVITY } from '../../src/domain/names';
import { type Row, startCampaign } from '../support/campaign';
import { sharedStack } from '../support/shared-stack';

/** History events after which a batch hands back. */
const FULL = 40;

describe('videos and images in one campaign', () => {
  const stack = sharedStack({ sandbox: { timing: { queuedMs: 0, runningMs: 200 }, videos: 'shared' } });

  it('an image call that takes long does not keep videos from being created', async () => {
    const media = await stack();
    const image: Row = {
      id: 'image',
      operation: 'image',
      model: 'image-2',
      prompt: '[run:16s] a boat',
      size: '512x512',
    };
    const videos = Array.from({ length: 16 }, (_, n): Row => {
      return { id: `video-${n}`, model: 'cine-1', prompt: `a boat ${n}`, duration: 2 };
    });
    const handle = await startCampaign(media, [image, ...videos], { concurrency: 4, eventsPerRun: FULL });
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
});
