import { type ContentUnavailableReason } from './download';
import { type RejectReason } from './failure-table';
import { given } from './json';
import { type Billing, endedBilling, finishedState } from './money';
import {
  type CreateEvidence,
  type ImageCallAnswer,
  type RejectedCall,
  type UnconfirmedCall,
} from './paid-call';
import { type PollErrorClass, type ReportedFacts } from './poll-answers';
import { type ArtifactRef } from './request';
import { requestBudgetMs } from './timeouts';
import { type TaskError, type VideoTask } from './video-task';

/** The requested values, separate from those that the service reports. */
export interface RequestedFacts {
  /** Public model id; null if only the task id was known. */
  readonly model: string | null;
  /** Requested seconds; null if the request did not set them or if only the task id was known. */
  readonly durationSeconds: number | null;
  /** Requested resolution, for example `720p`; null in the same cases. */
  readonly resolution: string | null;
  /** `none`, or kinds with counts such as `image:2+audio:1`; null if only the task id was known. */
  readonly referenceMode: string | null;
}

interface WithBilling {
  /** What the call may cost, according to the worker's price rules and the `usage` that the service reports. */
  readonly billing: Billing;
}

interface WithVideo extends WithBilling {
  /** The task at the service. Keep it: any process can use it to resume the wait. */
  readonly video: VideoTask;
}

/** Why the last poll returned no record. */
export interface LastPollError {
  /** The kind of answer: `network`, `rate_limited`, `credentials`, … */
  readonly class: PollErrorClass;
  /** Absent if no HTTP reply arrived. */
  readonly httpStatus?: number;
  /** The service's error, sanitized and truncated. */
  readonly reason?: TaskError;
}

/** A snapshot of a wait. */
export interface WatchFacts {
  /**
   * The last status that the service reported. Until a poll returns a record, this is the status in the create reply.
   * Null if the service sent no status.
   */
  readonly lastStatus: string | null;
  /** Set only if the service sent a number. */
  readonly progress?: number;
  /** ISO 8601. */
  readonly lastChangeAt: string | null;
  /** ISO 8601. */
  readonly lastPollAt: string | null;
  /** Number of polls that the service answered or that failed in transit. */
  readonly polls: number;
  /** Absent when the last poll returned a record. */
  readonly lastError?: LastPollError;
  /** When the service deletes a completed task's result, ISO 8601. Set only if the task's record says so. */
  readonly expiresAt?: string;
}

/** The video was downloaded, verified from its content, and stored. */
export interface CompletedVideo extends WithVideo {
  readonly outcome: 'completed';
  /** The stored file, identified by its SHA-256. */
  readonly artifact: ArtifactRef;
  /** JSON file with facts about the task, the request and the file; null if it could not be stored. */
  readonly sidecar: ArtifactRef | null;
  /** The requested values, in the caller's units. */
  readonly requested: RequestedFacts;
  /** The service's description of the result, from the task's record. */
  readonly reported: ReportedFacts;
  /**
   * Differences between requested and reported values, unusual media, and unknown values. A warning never claims that
   * references were used.
   */
  readonly warnings: readonly string[];
  /** The wait's final state. */
  readonly watch: WatchFacts;
}

/** The client's deadline passed. This is not a failure: the task keeps running, and a later wait can pick it up. */
export interface StillRunning extends WithVideo, WatchFacts {
  readonly outcome: 'still_running';
}

/** The task failed at the service. */
export interface FailedVideo extends WithVideo {
  readonly outcome: 'failed';
  /** The service's error, with its kind: moderation, capacity, invalid, quota or unknown. */
  readonly error: TaskError;
  /** Whether another attempt under a new creation key can help. */
  readonly retryable: boolean;
  /** The wait's final state. */
  readonly watch: WatchFacts;
}

/** The service completed the task, but the file could not be fetched. The outcome keeps the task. */
export interface ContentUnavailable extends WithVideo {
  readonly outcome: 'content_unavailable';
  /** The reason: a public value from docs/failures.md, such as `expired`. */
  readonly reason: ContentUnavailableReason;
  /** One human-readable sentence. Contains no URLs, keys or prompts. */
  readonly message: string;
  /** Number of download attempts. */
  readonly tries: number;
  /** Received bytes that are not a video, kept for inspection; null if there are none. */
  readonly rejected: ArtifactRef | null;
  /** HTTP status of the last attempt; absent if no HTTP reply arrived. */
  readonly httpStatus?: number;
}

/**
 * The service repeatedly reported that the id does not exist. Check the id and the path. Never create the video again
 * because of this outcome.
 */
export interface TaskUnknown extends WithVideo {
  readonly outcome: 'task_unknown';
  /** One human-readable sentence. */
  readonly message: string;
  /** The wait's final state. */
  readonly watch: WatchFacts;
}

/** A paid call with an unknown outcome. It was sent once and will not be sent again. */
export interface Unconfirmed extends WithBilling {
  readonly outcome: 'unconfirmed';
  /** Identifies the call in `temporal-media unconfirmed`, where a person settles it. */
  readonly creationKey: string;
  /** Index of the send with the unknown outcome, from 0. */
  readonly sendAttempt: number;
  /** Known facts about the send, for searching the service's records. */
  readonly evidence: CreateEvidence;
  /** One human-readable sentence. */
  readonly message: string;
}

/** The call was rejected before it was sent, or by the service. No task exists. */
export interface Rejected extends WithBilling {
  readonly outcome: 'rejected';
  /** Null for a call that was rejected before it had a key. */
  readonly creationKey: string | null;
  /** A public value from docs/failures.md, such as `quota` or `moderation`. */
  readonly reason: RejectReason;
  /** One human-readable sentence that says what to change. */
  readonly message: string;
  /** The invalid field of the request, such as `references[1].source`; absent if no field is invalid. */
  readonly field?: string;
  /** The field's allowed values; absent if they are unknown or cannot be listed. */
  readonly allowed?: readonly string[];
  /** HTTP status of the service's refusal; absent if the call was rejected before it was sent. */
  readonly httpStatus?: number;
  /** The service's error; absent if the call was rejected before it was sent. */
  readonly error?: TaskError;
  /** The service asked not to be called before this time (ISO 8601). */
  readonly notBefore?: string;
  /** How many times the request was sent and refused; 0 if it was never sent. */
  readonly sends: number;
}

/** The caller canceled. The service cannot cancel tasks, so an existing task keeps running and is returned here. */
export interface Cancelled extends WithBilling {
  readonly outcome: 'cancelled';
  /** The task, if the call was accepted; null if no task is known to exist. */
  readonly video: VideoTask | null;
  /** Null for a call that was canceled before it had a key, and for a wait by task id. */
  readonly creationKey: string | null;
}

/** All outcomes that a video workflow returns. It never throws them (architecture: Outcomes). */
export type VideoOutcome =
  | CompletedVideo
  | StillRunning
  | FailedVideo
  | ContentUnavailable
  | TaskUnknown
  | Unconfirmed
  | Rejected
  | Cancelled;

/** All results are stored, in the service's order. */
export interface CompletedImage extends WithBilling {
  readonly outcome: 'completed';
  /** In the order of the service's reply. */
  readonly images: readonly ArtifactRef[];
  /** When the images were created: Unix time in seconds. */
  readonly created: number | null;
  /**
   * Usually empty. Contains an entry if, for example, fewer images were returned than requested, or the model has no
   * configuration entry to validate against.
   */
  readonly warnings: readonly string[];
}

/** The call was paid for, but results could not be stored. Never sent again automatically (architecture: Images). */
export interface ImageResultsLost extends WithBilling {
  readonly outcome: 'results_lost';
  /** Starting the same id again fetches the missing results if {@link ImageResultsLost.fetchable} is true. */
  readonly creationKey: string;
  /** Null for each lost image. */
  readonly images: readonly (ArtifactRef | null)[];
  /** When the images were created: Unix time in seconds. */
  readonly created: number | null;
  /** The reason: a public value, such as `storage`. */
  readonly reason: string;
  /** One human-readable sentence. */
  readonly message: string;
  /**
   * Whether starting the same id again fetches the missing results, without sending anything, while the service's links
   * are valid.
   */
  readonly fetchable: boolean;
}

/** All outcomes of an image call (architecture: Outcomes). */
export type ImageOutcome = CompletedImage | ImageResultsLost | Unconfirmed | Rejected | Cancelled;

/**
 * Builds the outcomes of paid calls from facts, messages and money (architecture: Outcomes). See end-of-wait for the
 * outcomes of waits.
 */

const VALIDATED: ReadonlySet<RejectedCall['reason']> = new Set(['moderation', 'invalid_request']);

/**
 * Whether the service might bill for validating the rejected request: even a request that was not accepted can cost
 * money. If the service refuses the whole account or model, it validates no requests.
 */
export function isValidated({ httpStatus, standing, reason }: RejectedCall): boolean {
  return httpStatus !== undefined && standing === undefined && VALIDATED.has(reason);
}

function rejected(call: RejectedCall, creationKey: string | null, sends: number): Rejected {
  const { reason, message, field, allowed, httpStatus, error, notBefore } = call;
  return {
    outcome: 'rejected',
    creationKey,
    reason,
    message,
    ...given({ field, allowed, httpStatus, error, notBefore }),
    sends,
    billing: endedBilling(call.estimate, isValidated(call) ? 'needs_review' : 'none', call),
  };
}

/** Returns a rejection by workflow or client code, before any activity has run. Nothing was sent. */
export function refusedBeforeSend(
  reason: RejectedCall['reason'],
  message: string,
  field: string,
  allowed?: readonly string[],
): Rejected {
  const call: RejectedCall = {
    outcome: 'rejected',
    sendAttempt: 0,
    sent: false,
    account: null,
    estimate: null,
    reason,
    message,
    field,
    ...given({ allowed }),
  };
  return rejected(call, null, 0);
}

function unconfirmed(call: UnconfirmedCall, creationKey: string): Unconfirmed {
  return {
    outcome: 'unconfirmed',
    creationKey,
    sendAttempt: call.sendAttempt,
    evidence: call.evidence,
    message: unconfirmedMessage(call),
    billing: endedBilling(call.estimate, 'needs_review', call),
  };
}

function unconfirmedMessage({ evidence, resent }: UnconfirmedCall): string {
  const start =
    evidence.httpStatus === 500
      ? 'The HTTP 500 may have occurred before a task existed (parsing, capability validation) and is not proof of a provider fault.'
      : 'It is unknown whether the service accepted the request.';
  const sent =
    resent === true
      ? 'It was resent under the same idempotency key until the attempts ran out'
      : 'It was sent once and will not be sent again';
  const slow = evidence.cause === 'timeout_after_send' ? ` ${noAnswerInTime(evidence)}` : '';
  return `${start} ${sent}. Money may be owed. Check the service's task records against the evidence.${slow}`;
}

/** Returns the message for a call that exceeded its time limit, with advice for later calls to a slow model. */
function noAnswerInTime({ referenceMode }: CreateEvidence): string {
  const unlessGiven = requestBudgetMs(referenceMode === null ? 'image' : 'video', undefined) / 1000;
  return `The service did not answer within the time limit (requestSeconds in the model's MEDIA_MODELS entry, ${unlessGiven} by default). If the model is slower than that, raise requestSeconds for later calls.`;
}

export function cancelled(video: VideoTask | null, creationKey: string | null, money: Billing): Cancelled {
  return { outcome: 'cancelled', video, creationKey, billing: money };
}

/** All builders in one object, for code that uses several of them. */
export const outcomes = { cancelled, refusedBeforeSend, rejected, unconfirmed };

/** Returns the outcome of an image call, or undefined if the call may continue because nothing was accepted. */
export function imageOutcome(answer: ImageCallAnswer, creationKey: string): ImageOutcome | undefined {
  switch (answer.outcome) {
    case 'completed': {
      const { images, created, warnings, usage, estimate } = answer;
      return {
        outcome: 'completed',
        images,
        created,
        warnings,
        billing: endedBilling(estimate, finishedState(usage), answer),
      };
    }
    case 'results_lost': {
      const { images, created, reason, message, estimate } = answer;
      return {
        outcome: 'results_lost',
        creationKey,
        images,
        created,
        reason,
        message,
        fetchable: answer.sealedLinks !== undefined,
        billing: endedBilling(estimate, 'needs_review', answer),
      };
    }
    case 'rejected':
      return rejected(answer, creationKey, answer.sent ? 1 : 0);
    case 'unconfirmed':
      return unconfirmed(answer, creationKey);
    case 'not_sent':
    case 'refused_for_now':
    case 'pending':
      return undefined;
  }
}
