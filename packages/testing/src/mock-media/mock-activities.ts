import {
  type MediaActivities,
  type ImageOutcome,
  type VideoOutcome,
  type CreateVideoAnswer,
  type Billing,
  type Money,
} from 'temporal-media';
import { type DownloadVideoResult } from 'temporal-media/internal/domain/download';
import { ACTIVITY, NOT_RECORDED } from 'temporal-media/internal/domain/names';
import { type PollAnswer, type PolledRecord, seenOf } from 'temporal-media/internal/domain/poll-answers';
import { videoTaskById } from 'temporal-media/internal/domain/video-task';
import { type AskedImage, type AskedVideo, type FakeWorkflowActivities } from './mock-names';
import { completedImage, completedVideo, unconfirmedVideo } from './outcomes';

/** Determines how a test's calls end. */
export interface MockMediaOptions {
  /**
   * How each video ends. A function is called once per creation key, and once per task that is only awaited, so a
   * `jest.fn()` counts purchases. @default completedVideo()
   */
  readonly video?: VideoOutcome | ((asked: AskedVideo) => VideoOutcome);
  /** How each image call ends; called once per creation key. @default completedImage() */
  readonly image?: ImageOutcome | ((asked: AskedImage) => ImageOutcome);
  /** Number of polls until a video has ended, at least 1. Used only with the real workflows. @default 1 */
  readonly polls?: number;
}

/** This package's activities, without those for campaigns and the journal, plus those that the fake workflows call. */
export type MockMediaActivities = FakeWorkflowActivities &
  Pick<
    MediaActivities,
    | typeof ACTIVITY.createVideo
    | typeof ACTIVITY.reconcileCreate
    | typeof ACTIVITY.findVideoTask
    | typeof ACTIVITY.artifactStore
    | typeof ACTIVITY.watchVideo
    | typeof ACTIVITY.pollVideos
    | typeof ACTIVITY.downloadVideo
    | typeof ACTIVITY.generateImage
    | typeof ACTIVITY.editImage
  >;

/**
 * Creates activities for a test worker. They return the given outcomes and need no service, HTTP, journal or key. Each
 * creation key gets one video, as with a journal. If a task id is repeated, a number is appended to it. `still_running`
 * and `cancelled` are tasks that never end, so the caller's deadline or cancellation decides how the wait ends. In a
 * real workflow, an activity cannot return `cancelled` without a task.
 *
 * Not for campaigns, decisions about unknown outcomes or the journal: use the sandbox for these.
 */
export function mockMediaActivities(options: MockMediaOptions = {}): MockMediaActivities {
  const videos = new MockVideos(options.video ?? (() => completedVideo()));
  const images = new Map<string, ImageOutcome>();
  const image = async (asked: AskedImage): Promise<ImageOutcome> => {
    const key = asked.creationKey;
    const known = key === null ? undefined : images.get(key);
    const given = options.image ?? (() => completedImage());
    const outcome = known ?? withKey(typeof given === 'function' ? given(asked) : given, key);
    if (key !== null) images.set(key, outcome);
    return outcome;
  };
  const recorded = (creationKey: string): CreateVideoAnswer => {
    const known = videos.known(creationKey);
    return known === undefined ? UNRECORDED : createAnswer(known);
  };
  return {
    'mockMedia.video': async (asked) =>
      asked.taskId === null ? videos.bought(asked) : videos.awaited(asked.taskId),
    'mockMedia.image': image,
    // A canceled workflow reads the recorded outcome and buys nothing.
    [ACTIVITY.createVideo]: async ({ creationKey, request, recordedOnly }) => {
      if (recordedOnly === true) return recorded(creationKey);
      return createAnswer(videos.bought({ creationKey, request, taskId: null }));
    },
    // Called after a create returned no answer: the test's function threw, or the create was canceled before it began.
    [ACTIVITY.reconcileCreate]: async ({ creationKey }) => recorded(creationKey),
    [ACTIVITY.findVideoTask]: async ({ taskId, account = 'default@00000000' }) => {
      const outcome = videos.awaited(taskId);
      const video = 'video' in outcome && outcome.video !== null ? outcome.video : undefined;
      return {
        video: video === undefined ? videoTaskById(taskId, account) : { ...video, taskId },
        creationKey: null,
        workflowId: null,
        runId: null,
      };
    },
    [ACTIVITY.artifactStore]: async () => ({ storeId: null }),
    // There is no watcher, so the video polls on its own.
    [ACTIVITY.watchVideo]: async () => ({ kind: 'full' }),
    [ACTIVITY.pollVideos]: async ({ byModel }) => {
      const tasks = byModel.flatMap((batch) => {
        const seen = seenOf(batch);
        return batch.ids.map((id, index) => ({ id, seen: seen[index] }));
      });
      const answers = tasks.map(({ id, seen }, index) => {
        const isOver = videos.polled(id) >= (options.polls ?? 1);
        return pollAnswer(videos.awaited(id), { index, isOver, seen });
      });
      return { answers: answers.filter((answer) => answer !== null) };
    },
    [ACTIVITY.downloadVideo]: async ({ video }) => downloadAnswer(videos.awaited(video.taskId)),
    [ACTIVITY.generateImage]: ({ creationKey, request }) =>
      image({ creationKey: creationKey ?? null, request }),
    [ACTIVITY.editImage]: ({ creationKey, request }) => image({ creationKey: creationKey ?? null, request }),
  };
}

/** One test's videos, by creation key and by task id. */
class MockVideos {
  private readonly byKey = new Map<string, VideoOutcome>();
  private readonly byTask = new Map<string, VideoOutcome>();
  private readonly polls = new Map<string, number>();

  constructor(private readonly given: NonNullable<MockMediaOptions['video']>) {}

  bought(asked: AskedVideo): VideoOutcome {
    const key = asked.creationKey ?? '';
    const known = this.byKey.get(key);
    if (known !== undefined) return known;
    // If the test's function throws, the outcome stays unknown, and the function is not called again.
    this.byKey.set(key, LOST);
    const outcome = withKey(this.withTask(this.ask(asked)), asked.creationKey);
    this.byKey.set(key, outcome);
    return outcome;
  }

  known(creationKey: string): VideoOutcome | undefined {
    return this.byKey.get(creationKey);
  }

  awaited(taskId: string): VideoOutcome {
    const known = this.byTask.get(taskId);
    if (known !== undefined) return known;
    const outcome = this.ask({ creationKey: null, taskId, request: null });
    const named = 'video' in outcome ? { ...outcome, video: { ...outcome.video, taskId } } : outcome;
    this.byTask.set(taskId, named as VideoOutcome);
    return named as VideoOutcome;
  }

  /** Counts this poll and returns the task's number of polls so far. */
  polled(taskId: string): number {
    const polls = (this.polls.get(taskId) ?? 0) + 1;
    this.polls.set(taskId, polls);
    return polls;
  }

  private ask(asked: AskedVideo): VideoOutcome {
    return typeof this.given === 'function' ? this.given(asked) : this.given;
  }

  /** Gives each task its own id, as a service does. */
  private withTask(outcome: VideoOutcome): VideoOutcome {
    if (!('video' in outcome) || outcome.video === null) return outcome;
    const { taskId } = outcome.video;
    let free = taskId;
    for (let n = 2; this.byTask.has(free); n += 1) free = `${taskId}-${n}`;
    const named = { ...outcome, video: { ...outcome.video, taskId: free } };
    this.byTask.set(free, named);
    return named;
  }
}

const UNRECORDED: CreateVideoAnswer = {
  outcome: 'not_sent',
  cause: NOT_RECORDED,
  sendAttempt: 0,
  sent: false,
  sendAttemptUsed: false,
  permanent: false,
  account: null,
  estimate: null,
  message: 'Nothing is recorded under this key.',
};

const LOST = unconfirmedVideo({ evidence: { cause: 'activity_failed' } });

/** Returns the outcome with this call's creation key. */
function withKey<Outcome extends VideoOutcome | ImageOutcome>(
  outcome: Outcome,
  creationKey: string | null,
): Outcome {
  return 'creationKey' in outcome && creationKey !== null ? { ...outcome, creationKey } : outcome;
}

function createAnswer(outcome: VideoOutcome): CreateVideoAnswer {
  const estimate = estimateOf(outcome.billing);
  const owed = outcome.billing.state === 'needs_review' ? ({ mayBeOwed: true } as const) : {};
  const account = 'video' in outcome ? (outcome.video?.account ?? null) : null;
  const answer = { sendAttempt: 0, sent: true, account, estimate };
  if (outcome.outcome === 'unconfirmed')
    return { ...answer, outcome: 'unconfirmed', evidence: outcome.evidence };
  if (outcome.outcome === 'rejected') {
    const { billing: _money, creationKey: _key, sends, ...refusal } = outcome;
    return { ...answer, ...owed, ...refusal, sent: sends > 0 };
  }
  if (outcome.video === null)
    throw new Error('An activity cannot cancel a call before it is sent. Cancel the workflow instead.');
  return { ...answer, outcome: 'created', video: outcome.video, status: 'queued', warnings: [] };
}

/** Returns null if nothing has changed since the last poll. */
function pollAnswer(
  outcome: VideoOutcome,
  { index, isOver, seen }: { index: number; isOver: boolean; seen: string | undefined },
): PollAnswer | null {
  if (outcome.outcome === 'task_unknown') return { index, error: 'not_found', httpStatus: 404 };
  const record = isOver ? lastRecord(outcome) : RUNNING;
  const digest = record.phase;
  return digest === seen ? null : { index, digest, record };
}

const RUNNING: PolledRecord = { status: 'in_progress', phase: 'in_progress' };

function lastRecord(outcome: VideoOutcome): PolledRecord {
  const usage = outcome.billing.usage === undefined ? {} : { usage: outcome.billing.usage };
  switch (outcome.outcome) {
    case 'completed':
    case 'content_unavailable':
      return { status: 'completed', phase: 'completed', ...usage };
    case 'failed':
      return { status: 'failed', phase: 'failed', error: outcome.error, ...usage };
    default:
      return RUNNING;
  }
}

function downloadAnswer(outcome: VideoOutcome): DownloadVideoResult {
  if (outcome.outcome === 'completed') {
    const { artifact, sidecar, reported, warnings } = outcome;
    return { outcome: 'downloaded', artifact, sidecar, reported, warnings };
  }
  if (outcome.outcome === 'content_unavailable') {
    const { reason, message, tries, rejected, httpStatus } = outcome;
    const status = httpStatus === undefined ? {} : { httpStatus };
    return { outcome: 'content_unavailable', reason, message, tries, rejected, ...status };
  }
  throw new Error(`A video with outcome ${outcome.outcome} has nothing to download.`);
}

function estimateOf({ estimate, currency }: Billing): Money | null {
  return estimate === null || currency === null ? null : { microUnits: estimate, currency };
}
