import { type Billing } from './price';
import { type ContentUnavailableReason } from './download';
import { type ArtifactRef } from './request';
import { type CreateEvidence, type RejectReason } from './paid-call';
import { type PollErrorClass, type ReportedFacts } from './poll-answers';
import { type TaskError, type VideoTask } from './video-task';

/** What was asked for, kept apart from what the service reports (C2.2.5). */
export interface RequestedFacts {
  readonly model: string | null;
  readonly durationSeconds: number | null;
  readonly resolution: string | null;
  readonly referenceMode: string | null;
}

interface WithBilling {
  readonly billing: Billing;
}

interface WithVideo extends WithBilling {
  readonly video: VideoTask;
}

/** Why the last poll brought no record. */
export interface LastPollError {
  readonly class: PollErrorClass;
  readonly httpStatus?: number;
  /** What the service said, cleaned and short. */
  readonly reason?: TaskError;
}

/** What is known about a wait at one moment. Times are ISO 8601. */
export interface WatchFacts {
  /** The service's last status word, of its create reply until a poll brings a record; null when it sent none. */
  readonly lastStatus: string | null;
  /** Only when the service sent a number (C2.2.4). */
  readonly progress?: number;
  readonly lastChangeAt: string | null;
  readonly lastPollAt: string | null;
  readonly polls: number;
  readonly lastError?: LastPollError;
  /** Until when the service keeps the result of a completed task; only where its record says so. */
  readonly expiresAt?: string;
}

export interface CompletedVideo extends WithVideo {
  readonly outcome: 'completed';
  readonly artifact: ArtifactRef;
  readonly sidecar: ArtifactRef | null;
  readonly requested: RequestedFacts;
  readonly reported: ReportedFacts;
  /** Differences between requested and reported, odd media, unknown words. Nothing claims that references were used (C7.9). */
  readonly warnings: readonly string[];
  readonly watch: WatchFacts;
}

/** The client's deadline passed. A success, not a failure: the task goes on and can be awaited later (C3.4). */
export interface StillRunning extends WithVideo, WatchFacts {
  readonly outcome: 'still_running';
}

export interface FailedVideo extends WithVideo {
  readonly outcome: 'failed';
  readonly error: TaskError;
  /** Whether another attempt, under a new creation key, can make sense (C7.7). */
  readonly retryable: boolean;
  readonly watch: WatchFacts;
}

export interface ContentUnavailable extends WithVideo {
  readonly outcome: 'content_unavailable';
  readonly reason: ContentUnavailableReason;
  readonly message: string;
  readonly tries: number;
  readonly rejected: ArtifactRef | null;
  readonly httpStatus?: number;
}

/** The service repeatedly says that it does not know the id: check the id and the path (C7.2). Never a reason to create. */
export interface TaskUnknown extends WithVideo {
  readonly outcome: 'task_unknown';
  readonly message: string;
  readonly watch: WatchFacts;
}

/** A paid call whose fate is unknown. It was sent once and is not sent again (C4.4a, C4.4c). */
export interface Unconfirmed extends WithBilling {
  readonly outcome: 'unconfirmed';
  readonly creationKey: string;
  readonly sendAttempt: number;
  readonly evidence: CreateEvidence;
  readonly message: string;
}

/** Refused before the send, or by the service: no task exists. */
export interface Rejected extends WithBilling {
  readonly outcome: 'rejected';
  readonly creationKey: string | null;
  readonly reason: RejectReason;
  readonly message: string;
  readonly field?: string;
  readonly allowed?: readonly string[];
  readonly httpStatus?: number;
  readonly error?: TaskError;
  /** ISO 8601: the service asked not to be called before this. */
  readonly notBefore?: string;
  readonly sends: number;
}

/** Cancelled by the caller. The service has no cancel: a task that exists goes on and is named here. */
export interface Cancelled extends WithBilling {
  readonly outcome: 'cancelled';
  readonly video: VideoTask | null;
  readonly creationKey: string | null;
}

/** Every way a video workflow ends by itself; returned, never thrown (architecture: Outcomes). */
export type VideoOutcome =
  | CompletedVideo
  | StillRunning
  | FailedVideo
  | ContentUnavailable
  | TaskUnknown
  | Unconfirmed
  | Rejected
  | Cancelled;

export interface CompletedImage extends WithBilling {
  readonly outcome: 'completed';
  readonly images: readonly ArtifactRef[];
  /** Unix time in seconds (C2.5.1). */
  readonly created: number | null;
  readonly warnings: readonly string[];
}

/** Paid for, but results could not be kept. Never sent again by itself (architecture: Images). */
export interface ImageResultsLost extends WithBilling {
  readonly outcome: 'results_lost';
  readonly creationKey: string;
  readonly images: readonly (ArtifactRef | null)[];
  readonly created: number | null;
  readonly reason: string;
  readonly message: string;
  /** Whether the same id, started again, fetches what is missing while the links of the service live; nothing is sent for that. */
  readonly fetchable: boolean;
}

/** Every way an image call ends (architecture: Outcomes). */
export type ImageOutcome = CompletedImage | ImageResultsLost | Unconfirmed | Rejected | Cancelled;
