import { defineQuery, metricMeter, setCurrentDetails } from '@temporalio/workflow';
import { ENDED_VIDEO_METRICS, OTHER } from '../domain/ended-video-metrics';
import { given } from '../domain/json';
import { type MetricLabels } from '../domain/metrics';
import { QUERY } from '../domain/names';
import { type ImageOutcome, type VideoOutcome } from '../domain/outcome';
import { type CreateEvidence } from '../domain/paid-call';
import { type CallWait, videoDetails, type VideoState } from '../domain/video-state';
import { pollFacts, type Watch } from '../domain/watch-state';
import { onQuery, type OnProgress, reportProgress, waitsQuery } from './handlers';
import { type PollLoop } from './poll-loop';
import { forgetOutcome, recordFacts } from './workflow-metadata';

/** A full account name. An untyped caller may pass anything as a task's account. */
const ACCOUNT = /^[\w.-]{1,64}@[0-9a-f]{8}$/;

/**
 * Counts a video's outcome. Images are counted elsewhere, when their call returns. Issues no commands and does nothing
 * during replay. A retried workflow task or a reset run counts it again.
 */
export function countEndedVideo(outcome: VideoOutcome | ImageOutcome): void {
  const video = 'video' in outcome ? outcome.video : null;
  const account = ACCOUNT.test(video?.account ?? '') ? (video?.account ?? OTHER) : OTHER;
  const { state, estimate, actual, currency } = outcome.billing;
  add('videoEnds', 1, { account, outcome: outcome.outcome, billing: state });
  const cost = actual ?? estimate;
  if (state === 'reserved' || state === 'none' || cost === null || currency === null) return;
  // A counter cannot count a credit.
  add('videoCost', Math.max(0, cost), { account, currency, state });
}

function add<Key extends keyof typeof ENDED_VIDEO_METRICS>(
  key: Key,
  value: number,
  labels: MetricLabels<Key>,
): void {
  const { name, help } = ENDED_VIDEO_METRICS[key];
  metricMeter.createCounter(name, undefined, help).add(value, labels);
}

/**
 * The `video_state` query: a video workflow's current state. Can be queried while the workflow runs, and afterward from
 * its history.
 */
export const videoStateQuery = defineQuery<VideoState>(QUERY.videoState);

interface Facts extends Pick<
  VideoState,
  'phase' | 'creationKey' | 'taskId' | 'video' | 'estimate' | 'sends'
> {
  readonly deadlineAt: number | null;
  readonly wait: CallWait | null;
  readonly loop: Pick<PollLoop, 'nextTickAt'> | null;
  /** Workflow ID of the watcher while it polls this video. */
  readonly watcher: string | null;
  /**
   * The current state if this workflow's own loop polls. If a watcher polls, the state before the watcher took over.
   */
  readonly watch: Watch | null;
  readonly outcome: VideoOutcome['outcome'] | null;
  readonly evidence: CreateEvidence | null;
}

/**
 * The state behind the `video_state` query, the UI's details panel and the search attributes. The workflow updates it
 * while it runs. The query and the panel issue no commands, so what they show never affects a replay. Search attributes
 * issue one command per change, but only in workflows that were started with search attributes.
 */
export class VideoProgress {
  private facts: Facts = {
    phase: 'creating',
    creationKey: null,
    taskId: null,
    video: null,
    estimate: null,
    deadlineAt: null,
    wait: null,
    sends: 0,
    loop: null,
    watcher: null,
    watch: null,
    outcome: null,
    evidence: null,
  };
  private readonly report: (current: () => VideoState) => void;

  constructor(onProgress?: OnProgress<VideoState>) {
    this.report = reportProgress(onProgress, progressFacts);
  }

  /** Must be called before the first await, so that queries are answered from the first workflow task on. */
  answerQueries(): void {
    onQuery(videoStateQuery, () => this.state());
    onQuery(waitsQuery, () => (this.facts.wait === null ? [] : [this.facts.wait]));
    // A hook is not called yet: only the first update knows whether this run creates or continues.
    setCurrentDetails(videoDetails(this.state()));
  }

  update(news: Partial<Facts>): void {
    const before = this.facts.phase;
    this.facts = { ...this.facts, ...news };
    this.show();
    const { video, taskId, phase } = this.facts;
    if (video !== null)
      recordFacts({
        taskId: video.taskId,
        account: video.account,
        ...given({ model: video.model ?? undefined }),
      });
    else if (taskId !== null) recordFacts({ taskId });
    // While this workflow waits, it shows up in searches for work that needs a person.
    if (phase === 'unconfirmed') recordFacts({ outcome: phase });
    else if (before === 'unconfirmed') forgetOutcome();
  }

  /** Publishes the state. Needed after a tick, because a tick changes states without calling `update`. */
  show(): void {
    setCurrentDetails(videoDetails(this.state()));
    this.report(() => this.state());
  }

  private state(): VideoState {
    const { phase, video, loop, watch, watcher, outcome } = this.facts;
    const taskId = video?.taskId ?? this.facts.taskId;
    const nextPollAt = loop === null || watch === null ? null : loop.nextTickAt(watch);
    return {
      phase,
      creationKey: this.facts.creationKey,
      taskId,
      video,
      estimate: this.facts.estimate,
      deadlineAt: iso(this.facts.deadlineAt),
      nextPollAt: iso(nextPollAt),
      nextCreateAt: iso(this.facts.wait?.until ?? null),
      waitingFor: this.facts.wait?.why ?? null,
      sends: this.facts.sends,
      ...(this.facts.evidence !== null && phase === 'unconfirmed' && { evidence: this.facts.evidence }),
      ...pollFacts(watch?.state),
      ...(watcher !== null && phase === 'watching' && { watcher }),
      outcome,
    };
  }
}

/** What a hook is called for. Polls that found no change are left out, because each of them would be a call. */
function progressFacts({ phase, taskId, sends, nextCreateAt, lastChangeAt, outcome }: VideoState): unknown {
  return [phase, taskId, sends, nextCreateAt, lastChangeAt, outcome];
}

/** Runs a video workflow with its query handlers set before the first await. */
export async function trackVideo(
  run: (progress: VideoProgress) => Promise<VideoOutcome>,
  onProgress?: OnProgress<VideoState>,
): Promise<VideoOutcome> {
  const progress = new VideoProgress(onProgress);
  progress.answerQueries();
  const outcome = await run(progress);
  progress.update({ phase: 'done', outcome: outcome.outcome });
  recordFacts({ outcome: outcome.outcome });
  countEndedVideo(outcome);
  return outcome;
}

/**
 * Formats a time as ISO 8601. Returns null for a time outside the range of `Date`, because an absurdly long pause
 * requested by the service must not fail a workflow.
 */
function iso(time: number | null): string | null {
  const date = new Date(time ?? NaN);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
