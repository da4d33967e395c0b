import { type WorkflowHandle } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { eventTime } from '../../packages/replay/src/timeline/operations';
import { type VideoOutcome, type VideoState } from '../../src/domain';
import { type MediaActivities } from '../../src/domain/activities';
import { ACTIVITY, QUERY, WORKFLOW } from '../../src/domain/names';
import { eventually } from '../support/eventually';
import { handMadeWorker } from '../support/hand-made-worker';
import { sharedStack } from '../support/shared-stack';

/** The file of a video with shared polling: its watcher brings it, or the video fetches it as with own polling. */
describe('videos that their watcher delivers', () => {
  const stack = sharedStack({});
  let pace = 0;

  interface Ended {
    readonly outcome: VideoOutcome;
    readonly activities: readonly string[];
    /** Time from the answer of the watcher to the end of the last activity. */
    readonly waitedMs: number;
    readonly video: WorkflowHandle;
    readonly watcher: WorkflowHandle;
  }

  /** A video with a watcher of its own, whose tick holds no other. */
  async function ended(taskQueue: string, prompt: string, more: object = {}): Promise<Ended> {
    const { server } = await stack();
    const { client } = server;
    const workflowId = server.uniqueId('delivered');
    const handle = await client.workflow.start<(input: object) => Promise<VideoOutcome>>(
      WORKFLOW.generateVideo,
      {
        taskQueue,
        workflowId,
        args: [
          {
            request: { model: 'cine-1', prompt, durationSeconds: 2 },
            creationKey: workflowId,
            polling: 'shared',
            slowPolling: { after: `${(pace += 1)} hours`, interval: '1 minute' },
            ...more,
          },
        ],
      },
    );
    const id = await eventually('a watcher', async () => {
      const { watcher } = await handle.query<VideoState>(QUERY.videoState);
      return watcher;
    });
    const outcome = await handle.result();
    const events = (await handle.fetchHistory()).events ?? [];
    const endTimes = events.flatMap((event) =>
      event.activityTaskCompletedEventAttributes == null ? [] : [eventTime(event)],
    );
    return {
      outcome,
      activities: events.flatMap(
        (event) => event.activityTaskScheduledEventAttributes?.activityType?.name ?? [],
      ),
      waitedMs: (endTimes.at(-1) ?? 0) - (endTimes[1] ?? 0),
      video: handle,
      watcher: client.workflow.getHandle(id),
    };
  }

  const replaced = (activities: Partial<Record<keyof MediaActivities, unknown>>) => () =>
    activities as Partial<MediaActivities>;

  it('brings the file with its side-car, verified and stored as any other', async () => {
    const { taskQueue } = await stack();
    const { outcome, activities } = await ended(taskQueue, '[queue:0s] [run:2s] a parcel');
    expect(outcome).toMatchObject({
      outcome: 'completed',
      artifact: { mediaType: 'video/mp4' },
      sidecar: { mediaType: 'application/json' },
    });
    expect(activities).toEqual([ACTIVITY.createVideo, ACTIVITY.watchVideo]);
  });

  it('[C8.7] leaves the file to the video where its try fails, and never before Retry-After', async () => {
    const { taskQueue, sandbox } = await stack();
    const prompt = '[queue:0s] [run:2s] a parcel that is dropped';
    const action = { type: 'status', status: 503, headers: { 'retry-after': '7' } } as const;
    await sandbox.admin.addFaults(
      (['media', 'content'] as const).map((operation) => ({
        operation,
        promptIncludes: prompt,
        times: 1,
        action,
      })),
    );
    const { outcome, activities, waitedMs } = await ended(taskQueue, prompt);
    expect(outcome).toMatchObject({ outcome: 'completed', artifact: { mediaType: 'video/mp4' } });
    expect(activities).toEqual([ACTIVITY.createVideo, ACTIVITY.watchVideo, ACTIVITY.downloadVideo]);
    expect(waitedMs).toBeGreaterThanOrEqual(7_000);
  });

  it.each([
    ['is lost', { [ACTIVITY.deliverVideos]: () => Promise.reject(new Error('a fault of this worker')) }],
    ['is of a version without deliveries', { [ACTIVITY.deliverVideos]: undefined }],
  ])('a worker that %s: the video is told, and fetches its file', async (_what, without) => {
    const worker = await handMadeWorker(await stack(), {}, replaced(without));
    const { outcome, activities } = await worker.runUntil(
      ended(worker.taskQueue, '[queue:0s] [run:2s] a parcel without a courier'),
    );
    expect(outcome).toMatchObject({ outcome: 'completed' });
    expect(activities).toEqual([ACTIVITY.createVideo, ACTIVITY.watchVideo, ACTIVITY.downloadVideo]);
  });

  it('fetches its file itself where its side-car has the prompt, which no watcher is told', async () => {
    const { taskQueue } = await stack();
    const prompt = '[queue:0s] [run:2s] a parcel with a letter';
    const { outcome, activities, video, watcher } = await ended(taskQueue, prompt, {
      sidecarPrompt: 'include',
    });
    expect(outcome).toMatchObject({ outcome: 'completed' });
    expect(activities.at(-1)).toBe(ACTIVITY.downloadVideo);
    expect(await holds(video, prompt)).toBe(true);
    expect(await holds(watcher, prompt)).toBe(false);
  });
});

async function holds(handle: WorkflowHandle, text: string): Promise<boolean> {
  const history = await handle.fetchHistory();
  return Buffer.from(temporal.api.history.v1.History.encode(history).finish()).includes(text);
}
