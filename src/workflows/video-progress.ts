import { defineQuery, setHandler } from '@temporalio/workflow';
import { QUERY } from '../domain/names';
import { type VideoOutcome } from '../domain/outcome';
import { watchFacts } from '../domain/poll-watch';
import { type VideoState } from '../domain/video-state';
import { type VideoTask } from '../domain/video-task';
import { type PollLoop } from './poll-loop';

export const videoStateQuery = defineQuery<VideoState>(QUERY.videoState);

/** What the query `video_state` tells. Plain fields that the workflow sets as it goes; no commands. */
export class VideoProgress {
  phase: VideoState['phase'] = 'creating';
  creationKey: string | null = null;
  video: VideoTask | null = null;
  deadlineAt: number | null = null;
  nextCreateAt: number | null = null;
  waitingFor: string | null = null;
  sends = 0;
  loop: PollLoop | null = null;
  outcome: string | null = null;

  /** Set before the first await, so that a query is answered from the first workflow task on. */
  answerQueries(): void {
    setHandler(videoStateQuery, () => this.state());
  }

  private state(): VideoState {
    const watch = this.loop?.states().find((state) => state.video.taskId === this.video?.taskId);
    const next = watch === undefined ? null : (this.loop?.nextTickAt(watch.video.taskId) ?? null);
    return {
      phase: this.phase,
      creationKey: this.creationKey,
      video: this.video,
      deadlineAt: iso(this.deadlineAt),
      nextPollAt: iso(next),
      nextCreateAt: iso(this.nextCreateAt),
      waitingFor: this.waitingFor,
      sends: this.sends,
      watch: watch === undefined ? null : watchFacts(watch),
      outcome: this.outcome,
    };
  }
}

/** Runs a video workflow with its query set before the first await. */
export async function trackVideo(
  run: (progress: VideoProgress) => Promise<VideoOutcome>,
): Promise<VideoOutcome> {
  const progress = new VideoProgress();
  progress.answerQueries();
  const outcome = await run(progress);
  progress.phase = 'done';
  progress.outcome = outcome.outcome;
  return outcome;
}

function iso(time: number | null): string | null {
  return time === null || !Number.isFinite(time) ? null : new Date(time).toISOString();
}
