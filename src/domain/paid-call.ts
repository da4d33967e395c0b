import { type SenderTrace } from './create-heartbeat';
import { type CreatePolicy, createPolicyCheck } from './create-policy';
import { creationKeyCheck } from './creation-key';
import { type RejectReason } from './failure-table';
import { type JsonValue } from './json';
import { type Labels, labelsCheck, type Money, type SpendLimit } from './money';
import { baseTaskQueue, idCheck } from './names';
import {
  type ArtifactRef,
  type ImageEditRequest,
  type ImageGenerationRequest,
  type VideoRequest,
} from './request';
import {
  arrayOf,
  duration,
  type DurationInput,
  exactly,
  flag,
  name,
  optional,
  type ShapeOf,
  text,
} from './shape';
import { type ErrorKind, type PollingMode, type TaskError, type VideoTask } from './video-task';

/** The calling workflow's ancestors. After a reset of an ancestor, the same key is used again. */
export interface Ancestry {
  /** Workflow ids of the calling workflow's parent and root, in the same namespace. @default none */
  readonly ancestors?: readonly string[];
}

export interface NamedSender {
  /**
   * Unique to the activity, and the same in all of its attempts. A reconciliation uses it if the activity returned no
   * answer. @default {@link senderName}
   */
  readonly sender?: string;
}

/** Returns an activity's default sender name. */
export function senderName(runId: string | null, activityId: string): string {
  return `${runId ?? ''}/${activityId}`;
}

interface PaidInput extends Ancestry, NamedSender {
  /** Authorizes this call: at most one purchase is made for the key. */
  readonly creationKey: string;
  /** Credential name, or `name@digest` to require one service address; default `default`. */
  readonly account?: string;
  readonly policy?: CreatePolicy;
  /** If true, sends nothing while a call with the same body and another key has an unknown outcome. @default false */
  readonly refuseWhileUnconfirmed?: boolean;
  /**
   * If true, sends the same request again after the service refused it under this key. Only a person should request
   * this.
   * @default false
   */
  readonly again?: boolean;
  /** @default none */
  readonly labels?: Labels;
}

export interface CreateVideoInput extends PaidInput {
  readonly request: VideoRequest;
  /** If true, returns the recorded answer and sends nothing. Used by a canceled caller. */
  readonly recordedOnly?: true;
  /**
   * The `sendId` of a send with an unknown outcome that an earlier answer allowed to be repeated under its idempotency
   * key.
   */
  readonly sameKey?: string;
}

export type CallFacts = Pick<VideoTask, 'durationSeconds' | 'resolution' | 'referenceMode'> & {
  readonly model: string;
};

export interface ReconcileCreateInput extends Ancestry {
  readonly creationKey: string;
  readonly account?: string;
  /**
   * The request's fingerprint. Set if the create compared the requests and recognized its own. Null if the fingerprint
   * could not be computed.
   */
  readonly fingerprint?: string | null;
  /**
   * Identifies the activity that returned no answer. Only the journal that the activity used can prove that nothing was
   * sent.
   */
  readonly trace: SenderTrace;
  /** A send's answer that could not be written to the journal. The reconciliation records it. */
  readonly unrecorded?: UnrecordedAnswer;
  /** Facts to show a person if the journal has none. */
  readonly facts: CallFacts;
  readonly policy?: CreatePolicy;
}

/** `creationKey` is optional for a raw image activity; a call without a key is not reset-safe. */
export interface GenerateImageInput extends Partial<PaidInput> {
  readonly request: ImageGenerationRequest;
  /**
   * Set if the caller waits with its own timers. A call that has to wait then returns {@link WaitingImage}.
   * @default the activity's retry policy does the waiting
   */
  readonly waits?: true;
  /**
   * For an activity without a workflow: how long its attempts wait for a worker that can send the call, or for the
   * service to lift a refusal. @default until the last attempt of the retry policy
   */
  readonly startLimit?: DurationInput;
  /**
   * If set, returns the recorded answer and sends nothing. The value is the time when the call was scheduled, ISO 8601.
   * It is unknown whether a worker received the call.
   */
  readonly recordedSince?: string;
}

export interface EditImageInput extends Omit<GenerateImageInput, 'request'> {
  readonly request: ImageEditRequest;
}

/** The fields shared by all paid inputs, which differ only in their requests. Each caller checks the key itself. */
const PAID_INPUT = {
  request: true,
  creationKey: true,
  sender: optional(text(300)),
  ancestors: optional(arrayOf(idCheck, 2)),
  account: optional(name()),
  policy: optional(createPolicyCheck),
  refuseWhileUnconfirmed: optional(flag),
  again: optional(flag),
  labels: optional(labelsCheck),
} as const;

export const IMAGE_INPUT_SHAPE = {
  ...PAID_INPUT,
  waits: optional(exactly(true)),
  startLimit: optional(duration),
  recordedSince: optional(text(100)),
} satisfies ShapeOf<GenerateImageInput> & ShapeOf<EditImageInput>;

export const CREATE_VIDEO_INPUT_SHAPE = {
  ...PAID_INPUT,
  creationKey: creationKeyCheck,
  recordedOnly: optional(exactly(true)),
  sameKey: optional(text(200)),
} satisfies ShapeOf<CreateVideoInput>;

/**
 * Evidence that helps a person settle a create with an unknown outcome. Contains no prompts, keys or URLs (failure
 * model: Foreign bytes).
 */
export interface CreateEvidence {
  /**
   * Why the outcome is unknown: a public value such as `connection_lost_after_send`, `http_502`, `no_outcome_recorded`.
   */
  readonly cause: string;
  /** Identifies this send in decisions; null when no intent could be read. */
  readonly sendId: string | null;
  /** ISO 8601; null when no intent could be read. */
  readonly intentAt: string | null;
  /** The latest time at which the request may still have been in flight, ISO 8601. */
  readonly sendWindowEnd: string | null;
  /** SHA-256 of the request body. */
  readonly bodyHash: string | null;
  /** Null when no HTTP reply was read. */
  readonly httpStatus: number | null;
  /** Allow-listed reply headers, such as a request id. */
  readonly headers: { readonly [name: string]: string };
  /** The error kind in the reply; null when there was none. */
  readonly kind: ErrorKind | null;
  /** The service's own error code; null when there was none. */
  readonly code: string | null;
  /** SHA-256 of a reply body that could not be read as a task. */
  readonly replyHash: string | null;
  /** Public model id; null if only another journal had the intent. */
  readonly model: string | null;
  /** Requested duration; null if the request did not set it. */
  readonly durationSeconds: number | null;
  /** Requested resolution; null if the request did not set it. */
  readonly resolution: string | null;
  /** `none`, or kinds with counts; null for an image. */
  readonly referenceMode: string | null;
  /** Credential name and digest of the base address. */
  readonly account: string | null;
  /** The task that the sender's last heartbeat named, if no worker could record it in time. Adopt this task. */
  readonly taskId?: string;
}

interface PaidAnswer {
  /** Number of the send that the answer is about, from 0. If nothing was sent, the number of the next send. */
  readonly sendAttempt: number;
  /** Whether this activity execution sent a request. */
  readonly sent: boolean;
  readonly account: string | null;
  readonly estimate: Money | null;
  /** When the worker answered, by the same clock as the answer's other times, ISO 8601. */
  readonly givenAt?: string;
  /**
   * Something else under this key may also have cost money: an earlier send with an unknown outcome that a person
   * decided to repeat, or images that were paid for and lost.
   */
  readonly mayBeOwed?: true;
  /** What the send cost, according to its own reply or to the newest bill in the log. Absent while unknown. */
  readonly actual?: Money;
}

/** Provably nothing was sent, or the sender is permanently fenced off. It is safe to send under the key (class N). */
export interface NotSent extends PaidAnswer {
  readonly outcome: 'not_sent';
  /**
   * Public value: `connection_refused`, `configuration_unavailable`, `journal_unavailable`, `fenced`, `batch_closed`,
   * `worker_shutdown`, …
   */
  readonly cause: string;
  /** Whether an intent was recorded, although nothing was sent under it. */
  readonly sendAttemptUsed: boolean;
  /** True if waiting cannot help, for example if a certificate is not trusted. */
  readonly permanent: boolean;
  readonly message: string;
  /** Rejection reason to report once the caller stops waiting. @default `not_sent` */
  readonly reason?: RejectReason;
  /** The request field that this worker does not support. */
  readonly field?: string;
  /** A standing refusal or a spend limit blocks all sends before this time (ISO 8601). */
  readonly heldUntil?: string;
  /** The spend limit that the call does not fit in. */
  readonly limit?: FullLimit;
}

/** A window of a spend limit that has no room for a call. */
export interface FullLimit {
  /** `ACCOUNT` or `ACCOUNT/LABEL=VALUE`. */
  readonly payer: string;
  readonly per: SpendLimit['per'];
  /** When the window ends, ISO 8601. */
  readonly endsAt: string;
}

/** The service refused temporarily (class R, temporary): 429, 425, 503 with Retry-After. */
export interface RefusedForNow extends PaidAnswer {
  readonly outcome: 'refused_for_now';
  readonly httpStatus: number;
  readonly error: TaskError;
  /** The call is never sent again before this time (ISO 8601). Null if the service gave no time. */
  readonly notBefore: string | null;
}

/** A final refusal, by this package or by the service (class R, permanent). */
export interface RejectedCall extends PaidAnswer {
  readonly outcome: 'rejected';
  readonly reason: RejectReason;
  readonly message: string;
  readonly field?: string;
  readonly allowed?: readonly string[];
  readonly httpStatus?: number;
  readonly error?: TaskError;
  readonly notBefore?: string;
  /** The refusal applies to every call for the account, or for the model, until a person fixes the cause. */
  readonly standing?: StandingScope;
  /** The earliest time at which one call is retried as a probe for all calls that the refusal holds back, ISO 8601. */
  readonly heldUntil?: string;
}

export type StandingScope = 'account' | 'model';

/** An answer that could not be written to the journal, and the nonce of its send. */
interface UnrecordedAnswer {
  readonly nonce: string;
  readonly answer: NotSent | RefusedForNow | RejectedCall | UnconfirmedCall;
}

/** Facts that a reconciliation needs about an answer that left a send open. */
interface ToReconcile {
  /** Nonce of the send. */
  readonly announced?: string;
  /** The task that this send bought, according to an earlier attempt's heartbeat. */
  readonly taskId?: string;
  /** Set if the send was for this exact request. */
  readonly fingerprint?: string | null;
}

/** The key has a send without an answer, which may still be in flight. */
export interface PendingCall extends PaidAnswer, ToReconcile {
  readonly outcome: 'pending';
  readonly unrecorded?: UnrecordedAnswer;
}

/** The request may have been accepted (class U). Never sent again without authorization (C4.4c). */
export interface UnconfirmedCall extends PaidAnswer, ToReconcile {
  readonly outcome: 'unconfirmed';
  readonly evidence: CreateEvidence;
  /** The service asked not to be called before this time (ISO 8601), although its reply does not prove a refusal. */
  readonly notBefore?: string;
  /**
   * Until this time (ISO 8601), the call may be resent under its idempotency key. The operator guarantees that the
   * service honors the key.
   */
  readonly sameKeyUntil?: string;
  /** Set if the request was sent more than once under one key. */
  readonly resent?: true;
  /** The worker can query the service's task records, so `media.reconcileCreate` may still settle the outcome. */
  readonly inspectable?: true;
}

/** A task exists (class C). */
export interface CreatedVideo extends PaidAnswer {
  readonly outcome: 'created';
  readonly video: VideoTask;
  /** The status in the create reply; it may already be final. */
  readonly status: string;
  readonly warnings: readonly string[];
  /** This worker's polling mode for videos whose input does not set one. @default 'own' */
  readonly polling?: PollingMode;
}

/** Result of one `media.createVideo` attempt: created, refused or unknown, distinguished by `outcome`. */
export type CreateVideoAnswer =
  | CreatedVideo
  | NotSent
  | RefusedForNow
  | RejectedCall
  | PendingCall
  | UnconfirmedCall;

/** Images were paid for, fetched and stored. */
export interface CompletedImages extends PaidAnswer {
  readonly outcome: 'completed';
  /** In the order of `data`. */
  readonly images: readonly ArtifactRef[];
  /** Unix time in seconds, as reported by the service. */
  readonly created: number | null;
  readonly usage?: JsonValue;
  readonly warnings: readonly string[];
}

/**
 * The reply was read and the call was charged, but results could not be fetched or stored. Never sent again
 * automatically (architecture: Images).
 */
export interface ResultsLost extends PaidAnswer {
  readonly outcome: 'results_lost';
  /** The stored results, in order; null for each lost result. */
  readonly images: readonly (ArtifactRef | null)[];
  readonly created: number | null;
  readonly usage?: JsonValue;
  readonly reason: string;
  readonly message: string;
  /**
   * Links to the lost results, encrypted with the journal's key. Starting the same id again fetches the results without
   * sending anything. Absent if the links cannot help. The links never leave the journal.
   */
  readonly sealedLinks?: string;
}

/**
 * An image call without a result so far, because it was not sent or because the service refuses the whole account or
 * model.
 */
export type WaitingImage = NotSent | RejectedCall;

export type ImageCallAnswer =
  | CompletedImages
  | ResultsLost
  | NotSent
  | RefusedForNow
  | RejectedCall
  | PendingCall
  | UnconfirmedCall;

export function evidence(cause: string, known: Partial<Omit<CreateEvidence, 'cause'>> = {}): CreateEvidence {
  return {
    cause,
    sendId: null,
    intentAt: null,
    sendWindowEnd: null,
    bodyHash: null,
    httpStatus: null,
    headers: {},
    kind: null,
    code: null,
    replyHash: null,
    model: null,
    durationSeconds: null,
    resolution: null,
    referenceMode: null,
    account: null,
    ...known,
  };
}

/**
 * Returns the message for a call that no worker picked up before its start limit. The server no longer starts it
 * (failure model: row 2).
 */
export function noWorker(taskQueue: string): string {
  const media = baseTaskQueue(taskQueue);
  return `No worker picked up the call from task queue "${taskQueue}" before its start limit. Nothing was sent. Start a media worker on "${media}" (MEDIA_TASK_QUEUE), or name the task queue of a running worker.`;
}
