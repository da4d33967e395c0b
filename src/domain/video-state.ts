import { type WatchFacts } from './outcome';
import { type VideoTask } from './video-task';

/** Answer of the query `video_state`: what happens now and what is safe to do. Holds no prompt, key or address. */
export interface VideoState {
  readonly phase: 'creating' | 'waiting_to_create' | 'watching' | 'downloading' | 'done';
  readonly creationKey: string | null;
  readonly video: VideoTask | null;
  /** ISO 8601; null before the task exists. */
  readonly deadlineAt: string | null;
  readonly nextPollAt: string | null;
  /** ISO 8601 time of the next create, with the reason of the wait. */
  readonly nextCreateAt: string | null;
  readonly waitingFor: string | null;
  readonly sends: number;
  readonly watch: WatchFacts | null;
  readonly outcome: string | null;
}
