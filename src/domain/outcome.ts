import { type ContentUnavailableReason } from './download';
import { type RejectReason } from './failure-table';
import { given } from './json';
import { type Billing, billing, finishedState } from './money';
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

/** The requested values, kept apart from what the service reports. */
export interface RequestedFacts {
  /** Public model id; null where only the task id was known. */
  readonly model: string | null;
  /** Seconds that were asked for; null where the request named none, or only the task id was known. */
  readonly durationSeconds: number | null;
  /** As asked for, for example `720p`; null as above. */
  readonly resolution: string | null;
  /** `none`, or kinds with counts such as `image:2+audio:1`; null where only the task id was known. */
  readonly referenceMode: string | null;
}

interface WithBilling {
  /** What the call may have cost, by the worker's price rules and the service's own `usage`. */
  readonly billing: Billing;
}

interface WithVideo extends WithBilling {
  /** The task at the service. Keep it: with it the wait can continue from any process. */
  readonly video: VideoTask;
}

/** Why the last poll returned no record. */
export interface LastPollError {
  /** What kind of answer it was: `network`, `rate_limited`, `credentials`, … */
  readonly class: PollErrorClass;
  /** Absent where no HTTP reply came. */
  readonly httpStatus?: number;
  /** The service's error, cleaned and shortened. */
  readonly reason?: TaskError;
}

/** State of a wait at one moment. */
export interface WatchFacts {
  /** The service's last status value: that of the create reply until a poll returns a record; null when it sent none. */
  readonly lastStatus: string | null;
  /** Only when the service sent a number. */
  readonly progress?: number;
  /** ISO 8601. */
  readonly lastChangeAt: string | null;
  /** ISO 8601. */
  readonly lastPollAt: string | null;
  /** Polls that the service answered, or that failed in transit. */
  readonly polls: number;
  /** Absent when the last poll returned a record. */
  readonly lastError?: LastPollError;
  /** When the result of a completed task expires at the service, ISO 8601; set only where its record says so. */
  readonly expiresAt?: string;
}

/** Downloaded, verified as video by its bytes, and stored. */
export interface CompletedVideo extends WithVideo {
  readonly outcome: 'completed';
  /** The stored file, by its SHA-256. */
  readonly artifact: ArtifactRef;
  /** JSON file with the facts of task, request and file; null where it could not be stored. */
  readonly sidecar: ArtifactRef | null;
  /** What was asked for, in the caller's units. */
  readonly requested: RequestedFacts;
  /** What the service's record says of the result. */
  readonly reported: ReportedFacts;
  /**
   * Differences between requested and reported values, unusual media, unknown values. Never claims that references were
   * used.
   */
  readonly warnings: readonly string[];
  /** The wait at its end. */
  readonly watch: WatchFacts;
}

/** The client's deadline passed. A success, not a failure: the task continues and can be awaited later. */
export interface StillRunning extends WithVideo, WatchFacts {
  readonly outcome: 'still_running';
}

/** The service failed the task. */
export interface FailedVideo extends WithVideo {
  readonly outcome: 'failed';
  /** The service's error, with its kind: moderation, capacity, invalid, quota or unknown. */
  readonly error: TaskError;
  /** Whether another attempt, under a new creation key, can help. */
  readonly retryable: boolean;
  /** The wait at its end. */
  readonly watch: WatchFacts;
}

/** The service completed the task, but the file could not be fetched; the task is kept. */
export interface ContentUnavailable extends WithVideo {
  readonly outcome: 'content_unavailable';
  /** Why: a public value of docs/failures.md, such as `expired`. */
  readonly reason: ContentUnavailableReason;
  /** One sentence for a person; without address, key and prompt. */
  readonly message: string;
  /** Tries of the download. */
  readonly tries: number;
  /** Bytes that came and were no video, kept for a person to look at; null when there are none. */
  readonly rejected: ArtifactRef | null;
  /** Of the last try; absent where no HTTP reply came. */
  readonly httpStatus?: number;
}

/** The service repeatedly answered that it does not know the id: check the id and the path. Never a reason to create. */
export interface TaskUnknown extends WithVideo {
  readonly outcome: 'task_unknown';
  /** One sentence for a person. */
  readonly message: string;
  /** The wait at its end. */
  readonly watch: WatchFacts;
}

/** A paid call whose fate is unknown. It was sent once and is not sent again. */
export interface Unconfirmed extends WithBilling {
  readonly outcome: 'unconfirmed';
  /** Names the call in `temporal-media unconfirmed`, where a person decides about it. */
  readonly creationKey: string;
  /** The send whose fate is unknown, from 0. */
  readonly sendAttempt: number;
  /** What is known about it, for a search in the records of the service. */
  readonly evidence: CreateEvidence;
  /** One sentence for a person. */
  readonly message: string;
}

/** Refused before the send, or by the service: no task exists. */
export interface Rejected extends WithBilling {
  readonly outcome: 'rejected';
  /** Null for a call that was refused before it had a key. */
  readonly creationKey: string | null;
  /** A public value of docs/failures.md, such as `quota` or `validation`. */
  readonly reason: RejectReason;
  /** One sentence for a person, with what to change. */
  readonly message: string;
  /** Field of the request that is wrong, such as `references[1].source`; absent where none is. */
  readonly field?: string;
  /** Values that the field may have; absent where the set is not finite or not known. */
  readonly allowed?: readonly string[];
  /** Of the service's refusal; absent where it was refused before the send. */
  readonly httpStatus?: number;
  /** The service's error; absent where it was refused before the send. */
  readonly error?: TaskError;
  /** ISO 8601: the service asked not to be called before this. */
  readonly notBefore?: string;
  /** Times that the request was sent, all of them refused; 0 when it was refused before the send. */
  readonly sends: number;
}

/** Cancelled by the caller. The service has no cancel: an existing task continues and is named here. */
export interface Cancelled extends WithBilling {
  readonly outcome: 'cancelled';
  /** The task, if the call was accepted; null where nothing is known to exist. */
  readonly video: VideoTask | null;
  /** Null for a call that was cancelled before it had a key, and for a wait by a task id. */
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
  /** In the order of the service's reply. */
  readonly images: readonly ArtifactRef[];
  /** Unix time in seconds. */
  readonly created: number | null;
  /** Such as fewer images than requested, or a model without an entry to validate the request; usually empty. */
  readonly warnings: readonly string[];
}

/** Paid for, but results could not be kept. Never sent again automatically (architecture: Images). */
export interface ImageResultsLost extends WithBilling {
  readonly outcome: 'results_lost';
  /** The same id again fetches what is missing, where {@link ImageResultsLost.fetchable} says so. */
  readonly creationKey: string;
  /** Null for each that is lost. */
  readonly images: readonly (ArtifactRef | null)[];
  /** Unix time in seconds. */
  readonly created: number | null;
  /** Why: a public value, such as `storage`. */
  readonly reason: string;
  /** One sentence for a person. */
  readonly message: string;
  /**
   * Whether starting the same id again fetches the missing results while the service's links are valid, without
   * sending anything.
   */
  readonly fetchable: boolean;
}

/** All outcomes of an image call (architecture: Outcomes). */
export type ImageOutcome = CompletedImage | ImageResultsLost | Unconfirmed | Rejected | Cancelled;

/** Outcomes of paid calls, from facts, messages and money (architecture: Outcomes); those of a wait are in end-of-wait. */

const VALIDATED: ReadonlySet<RejectedCall['reason']> = new Set(['moderation', 'invalid_request']);

/**
 * Whether the service may bill the validation of the refused request: that nothing was accepted does not prove that
 * nothing is owed. A refusal of the whole account or model validates no request.
 */
export function isValidated({ httpStatus, standing, reason }: RejectedCall): boolean {
  return httpStatus !== undefined && standing === undefined && VALIDATED.has(reason);
}

function rejected(call: RejectedCall, creationKey: string | null, sends: number): Rejected {
  const mayBeOwed = call.mayBeOwed === true || isValidated(call);
  const { reason, message, field, allowed, httpStatus, error, notBefore } = call;
  return {
    outcome: 'rejected',
    creationKey,
    reason,
    message,
    ...given({ field, allowed, httpStatus, error, notBefore }),
    sends,
    billing: billing(call.estimate, mayBeOwed ? 'needs_review' : 'none'),
  };
}

/** A refusal by workflow or client code, before any activity: nothing was sent. */
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
    ...(allowed === undefined ? {} : { allowed }),
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
    billing: billing(call.estimate, 'needs_review'),
  };
}

function unconfirmedMessage({ evidence, resent }: UnconfirmedCall): string {
  const start =
    evidence.httpStatus === 500
      ? 'HTTP 500 may come from before a task existed (parsing, capability validation) and proves no fault of the provider.'
      : 'It is not known whether the service accepted the request.';
  const sent =
    resent === true
      ? 'It was sent again under the same idempotency key until the tries were over'
      : 'It was sent once and is not sent again';
  const slow = evidence.cause === 'timeout_after_send' ? ` ${noAnswerInTime(evidence)}` : '';
  return `${start} ${sent}; money may be owed. Look into the task records of the service with the evidence.${slow}`;
}

/** Advice for later calls of a slow model. */
function noAnswerInTime({ referenceMode }: CreateEvidence): string {
  const unlessGiven = requestBudgetMs(referenceMode === null ? 'image' : 'video', undefined) / 1000;
  return `The service did not answer in time: within requestSeconds of the model's entry in MEDIA_MODELS, ${unlessGiven} unless it is given there. Where the model takes longer, set it to more for later calls.`;
}

export function cancelled(video: VideoTask | null, creationKey: string | null, money: Billing): Cancelled {
  return { outcome: 'cancelled', video, creationKey, billing: money };
}

/** The builders as one object, for code that uses several of them. */
export const outcomes = { cancelled, refusedBeforeSend, rejected, unconfirmed };

/** The outcome of an image call; undefined for answers after which it may continue (nothing was accepted). */
export function imageOutcome(answer: ImageCallAnswer, creationKey: string): ImageOutcome | undefined {
  switch (answer.outcome) {
    case 'completed': {
      const { images, created, warnings, usage, estimate, mayBeOwed } = answer;
      return {
        outcome: 'completed',
        images,
        created,
        warnings,
        billing: billing(estimate, mayBeOwed === true ? 'needs_review' : finishedState(usage), usage),
      };
    }
    case 'results_lost': {
      const { images, created, reason, message, estimate, usage } = answer;
      return {
        outcome: 'results_lost',
        creationKey,
        images,
        created,
        reason,
        message,
        fetchable: answer.sealedLinks !== undefined,
        billing: billing(estimate, 'needs_review', usage),
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
