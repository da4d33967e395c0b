import { defineQuery, setCurrentDetails, setHandler } from '@temporalio/workflow';
import { type CallWait } from '../domain/call-wait';
import { QUERY } from '../domain/names';
import { type VideoOutcome } from '../domain/outcome';
import { type CreateEvidence } from '../domain/paid-call';
import { pollFacts, type WatchState } from '../domain/watch-state';
import { safeNow, videoDetails, type VideoState } from '../domain/video-state';
import { type VideoTask } from '../domain/video-task';
import { countEndedVideo } from './ended-videos';
import { type PollLoop } from './poll-loop';
import { waitsQuery } from './waits-query';

export const videoStateQuery = defineQuery<VideoState>(QUERY.videoState);

interface Facts {
  readonly phase: VideoState['phase'];
  readonly creationKey: string | null;
  readonly taskId: string | null;
  readonly video: VideoTask | null;
  readonly deadlineAt: number | null;
  readonly wait: CallWait | null;
  readonly sends: number;
  readonly loop: PollLoop | null;
  /** The final state of the watch, once its loop has released it. */
  readonly ended: WatchState | null;
  readonly outcome: VideoOutcome['outcome'] | null;
  readonly evidence: CreateEvidence | null;
}

/**
 * The state behind the query `video_state` and the details panel of the UI. The workflow sets it while it runs; neither
 * makes a command, so that histories replay whatever they show.
 */
export class VideoProgress {
  private facts: Facts = {
    phase: 'creating',
    creationKey: null,
    taskId: null,
    video: null,
    deadlineAt: null,
    wait: null,
    sends: 0,
    loop: null,
    ended: null,
    outcome: null,
    evidence: null,
  };

  /** Call it before the first await, so that queries are answered from the first workflow task on. */
  answerQueries(): void {
    setHandler(videoStateQuery, () => this.state());
    setHandler(waitsQuery, () => (this.facts.wait === null ? [] : [this.facts.wait]));
    this.show();
  }

  update(news: Partial<Facts>): void {
    this.facts = { ...this.facts, ...news };
    this.show();
  }

  /** Updates the details panel; needed after a tick, which changes states without an `update`. */
  show(): void {
    setCurrentDetails(videoDetails(this.state()));
  }

  private state(): VideoState {
    const { phase, video, loop, ended, outcome } = this.facts;
    const taskId = video?.taskId ?? this.facts.taskId;
    const open = loop?.states().find((state) => state.video.taskId === taskId);
    const polled = pollFacts(open ?? ended ?? undefined);
    const lastError = polled.watch?.lastError ?? null;
    return {
      phase,
      creationKey: this.facts.creationKey,
      taskId,
      video,
      deadlineAt: iso(this.facts.deadlineAt),
      nextPollAt: open === undefined ? null : iso(loop?.nextTickAt(open.video.taskId) ?? null),
      nextCreateAt: iso(this.facts.wait?.until ?? null),
      waitingFor: this.facts.wait?.why ?? null,
      sends: this.facts.sends,
      ...(this.facts.evidence !== null && phase === 'unconfirmed' && { evidence: this.facts.evidence }),
      ...polled,
      safe: safeNow({ phase, outcome, taskId, account: video?.account ?? null, lastError }),
      outcome,
    };
  }
}

/** Runs a video workflow with its queries set before the first await. */
export async function trackVideo(
  run: (progress: VideoProgress) => Promise<VideoOutcome>,
): Promise<VideoOutcome> {
  const progress = new VideoProgress();
  progress.answerQueries();
  const outcome = await run(progress);
  progress.update({ phase: 'done', outcome: outcome.outcome });
  countEndedVideo(outcome);
  return outcome;
}

/** Null also for a time outside the range of `Date`: an absurdly long wait must not fail a workflow that has paid. */
function iso(time: number | null): string | null {
  const date = new Date(time ?? NaN);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
