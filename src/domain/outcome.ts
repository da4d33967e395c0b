import { type Billing } from './price';
import { type ContentUnavailableReason } from './download';
import { type ArtifactRef } from './request';
import { type CreateEvidence } from './paid-call';
import { type RejectReason } from './failure-table';
import { type PollErrorClass, type ReportedFacts } from './poll-answers';
import { type TaskError, type VideoTask } from './video-task';

/** The requested values, kept apart from what the service reports (C2.2.5). */
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

/** Why the last poll returned no record. */
export interface LastPollError {
  readonly class: PollErrorClass;
  readonly httpStatus?: number;
  /** The service's error, cleaned and shortened. */
  readonly reason?: TaskError;
}

/** State of a wait at one moment. */
export interface WatchFacts {
  /**
   * The service's last status value: that of the create reply until a poll returns a record; null when it sent none.
   */
  readonly lastStatus: string | null;
  /** Only when the service sent a number (C2.2.4). */
  readonly progress?: number;
  /** ISO 8601. */
  readonly lastChangeAt: string | null;
  /** ISO 8601. */
  readonly lastPollAt: string | null;
  readonly polls: number;
  readonly lastError?: LastPollError;
  /** When the result of a completed task expires at the service, ISO 8601; set only where its record says so. */
  readonly expiresAt?: string;
}

/** Downloaded, verified as video by its bytes, and stored. */
export interface CompletedVideo extends WithVideo {
  readonly outcome: 'completed';
  readonly artifact: ArtifactRef;
  readonly sidecar: ArtifactRef | null;
  readonly requested: RequestedFacts;
  readonly reported: ReportedFacts;
  /**
   * Differences between requested and reported values, unusual media, unknown values. Never claims that references
   * were used (C7.9).
   */
  readonly warnings: readonly string[];
  readonly watch: WatchFacts;
}

/** The client's deadline passed. A success, not a failure: the task continues and can be awaited later (C3.4). */
export interface StillRunning extends WithVideo, WatchFacts {
  readonly outcome: 'still_running';
}

/** The service failed the task. */
export interface FailedVideo extends WithVideo {
  readonly outcome: 'failed';
  readonly error: TaskError;
  /** Whether another attempt, under a new creation key, can help (C7.7). */
  readonly retryable: boolean;
  readonly watch: WatchFacts;
}

/** The service completed the task, but the file could not be fetched; the task is kept. */
export interface ContentUnavailable extends WithVideo {
  readonly outcome: 'content_unavailable';
  readonly reason: ContentUnavailableReason;
  readonly message: string;
  readonly tries: number;
  readonly rejected: ArtifactRef | null;
  readonly httpStatus?: number;
}

/**
 * The service repeatedly answered that it does not know the id: check the id and the path (C7.2). Never a reason to
 * create.
 */
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

/** Cancelled by the caller. The service has no cancel: an existing task continues and is named here. */
export interface Cancelled extends WithBilling {
  readonly outcome: 'cancelled';
  readonly video: VideoTask | null;
  readonly creationKey: string | null;
}

/** All outcomes that a video workflow returns; none is thrown (architecture: Outcomes). */
export type VideoOutcome =
  | CompletedVideo
  | StillRunning
  | FailedVideo
  | ContentUnavailable
  | TaskUnknown
  | Unconfirmed
  | Rejected
  | Cancelled;

/** Every result is stored, in the order of the service. */
export interface CompletedImage extends WithBilling {
  readonly outcome: 'completed';
  readonly images: readonly ArtifactRef[];
  /** Unix time in seconds (C2.5.1). */
  readonly created: number | null;
  readonly warnings: readonly string[];
}

/** Paid for, but results could not be kept. Never sent again automatically (architecture: Images). */
export interface ImageResultsLost extends WithBilling {
  readonly outcome: 'results_lost';
  readonly creationKey: string;
  /** Null for each that is lost. */
  readonly images: readonly (ArtifactRef | null)[];
  /** Unix time in seconds (C2.5.1). */
  readonly created: number | null;
  readonly reason: string;
  readonly message: string;
  /**
   * Whether starting the same id again fetches the missing results while the service's links are valid, without
   * sending anything.
   */
  readonly fetchable: boolean;
}

/** All outcomes of an image call (architecture: Outcomes). */
export type ImageOutcome = CompletedImage | ImageResultsLost | Unconfirmed | Rejected | Cancelled;
