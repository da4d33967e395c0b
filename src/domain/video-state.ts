import { type WatchFacts } from './outcome';
import { type CreateEvidence } from './paid-call';
import { type VideoTask } from './video-task';

/**
 * Answer of the query `video_state`: what happens now and what is safe to do. Holds no prompt, key or address.
 * Times are ISO 8601 in workflow time.
 */
export interface VideoState {
  readonly phase: 'creating' | 'waiting_to_create' | 'unconfirmed' | 'watching' | 'downloading' | 'done';
  readonly creationKey: string | null;
  /** Known before the task's facts are when it is awaited by its id. */
  readonly taskId: string | null;
  readonly video: VideoTask | null;
  /** Null before the task exists. */
  readonly deadlineAt: string | null;
  readonly nextPollAt: string | null;
  /** Time of the next create, with the reason of the wait. */
  readonly nextCreateAt: string | null;
  readonly waitingFor: string | null;
  readonly sends: number;
  /** Only in the phase `unconfirmed`: what is known about the create that somebody has to decide about. */
  readonly evidence?: CreateEvidence;
  readonly watch: WatchFacts | null;
  /** When the record last differed from the one before; null when none has come. */
  readonly lastChangeAt: string | null;
  readonly lastPollAt: string | null;
  /** Polls that the service answered, or that failed on their way. */
  readonly polls: number;
  /** 200 when the last poll brought a record, else the status of the error; null when nothing was answered. */
  readonly lastHttpStatus: number | null;
  /** Polls in a row that brought no record. A tick that no worker could do is none: `watch.lastError` tells of it. */
  readonly consecutiveErrors: number;
  /** What is safe to do now, for a person: one or two sentences (architecture: Poll, 4.6). */
  readonly safe: string;
  readonly outcome: string | null;
}
