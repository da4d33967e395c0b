import { CREATE_POLICY_KEYS, type CreatePolicy } from './create-policy';
import { type SenderTrace, type SenderHeartbeat } from './journal-proof';
import { type JsonValue } from './json';
import { type KeysOf } from './known-keys';
import { baseTaskQueue } from './names';
import { type Money } from './price';
import {
  type ArtifactRef,
  type ImageEditRequest,
  type ImageGenerationRequest,
  type VideoRequest,
} from './request';
import { type ErrorKind, type TaskError, type VideoTask } from './video-task';

/** One send attempt of one creation key: at most one request leaves in it (failure model: The journal). */
interface SendAttemptKey {
  readonly creationKey: string;
  /** 0 for the first send; the next opens only after a proven refusal or an authorisation. */
  readonly sendAttempt: number;
}

interface PaidInput extends SendAttemptKey {
  /** Credential name, or `name@digest` to insist on one service; default `default`. */
  readonly account?: string;
  readonly policy?: CreatePolicy;
  /** Nothing is sent while a call with this very body and another key has an unknown fate. @default false */
  readonly refuseWhileUnconfirmed?: boolean;
  /** A person wants this very request sent again where the service refused it before under this key. @default false */
  readonly again?: boolean;
}

export interface CreateVideoInput extends PaidInput {
  readonly request: VideoRequest;
  /** Only what is recorded under the key is wanted: nothing is sent. For a caller that was cancelled. */
  readonly recordedOnly?: true;
  /** The caller was told that this send attempt may be sent again under its idempotency key. */
  readonly sameKey?: true;
}

/** What a create asked for, without its texts. */
export type CallFacts = Pick<VideoTask, 'durationSeconds' | 'resolution' | 'referenceMode'> & {
  readonly model: string;
};

export interface ReconcileCreateInput extends SendAttemptKey {
  readonly account?: string;
  /** Set when the create itself compared requests and found its own: the fingerprint, null where it could not be had. */
  readonly fingerprint?: string | null;
  /** What is known of those who may have sent: only the journal that they named can prove that they did not. */
  readonly senders: SenderTrace;
  /** What a person needs to know of it where no journal knows it. */
  readonly facts: CallFacts;
  readonly policy?: CreatePolicy;
}

/** `creationKey` and `sendAttempt` are optional for a raw image activity; without a key it is documented as not reset-safe. */
export interface GenerateImageInput extends Partial<PaidInput> {
  readonly request: ImageGenerationRequest;
  /** The caller waits by timers of its own: what has to wait comes back as {@link WaitingImage}. @default the retry policy waits */
  readonly waits?: true;
  /**
   * Only what is recorded is wanted, and nothing is sent: a call was scheduled at this time (ISO 8601) of which nobody knows
   * whether a worker had it.
   */
  readonly recordedSince?: string;
}

export interface EditImageInput extends Partial<PaidInput> {
  readonly request: ImageEditRequest;
  /** As for {@link GenerateImageInput}. */
  readonly waits?: true;
  /** As for {@link GenerateImageInput}. */
  readonly recordedSince?: string;
}

/** The same for edits: the two differ in their requests. */
const PAID_INPUT_KEYS = {
  request: true,
  creationKey: true,
  sendAttempt: true,
  account: true,
  policy: CREATE_POLICY_KEYS,
  refuseWhileUnconfirmed: true,
  again: true,
} as const;

export const IMAGE_INPUT_KEYS = {
  ...PAID_INPUT_KEYS,
  waits: true,
  recordedSince: true,
} satisfies KeysOf<GenerateImageInput> & KeysOf<EditImageInput>;

export const CREATE_VIDEO_INPUT_KEYS = {
  ...PAID_INPUT_KEYS,
  recordedOnly: true,
  sameKey: true,
} satisfies KeysOf<CreateVideoInput>;

/** Why nothing was sent, or why the service refused; public words. */
export type RejectReason =
  | 'invalid_request'
  | 'moderation'
  | 'quota'
  | 'capacity'
  | 'service_error'
  | 'credentials'
  | 'account_not_configured'
  | 'creation_key_conflict'
  | 'creation_key_required'
  | 'not_sent'
  | 'retry_later'
  | 'unsafe_retry_policy'
  | 'unconfirmed_open'
  | 'declared_lost'
  | 'price_changed';

/** What a person needs to settle a create of unknown fate; no prompt, key or address (failure model: Foreign bytes). */
export interface CreateEvidence {
  /** Why the fate is unknown, in public words such as `connection_lost_after_send`, `http_502`, `no_outcome_recorded`. */
  readonly cause: string;
  /** ISO 8601; null when no intent could be read. */
  readonly intentAt: string | null;
  /** ISO 8601 time until which the request may have been on its way. */
  readonly sendWindowEnd: string | null;
  /** SHA-256 of the request body. */
  readonly bodyHash: string | null;
  readonly httpStatus: number | null;
  /** Allow-listed reply headers, such as a request id. */
  readonly headers: { readonly [name: string]: string };
  readonly kind: ErrorKind | null;
  readonly code: string | null;
  /** SHA-256 of a reply body that could not be read as a task. */
  readonly replyHash: string | null;
  readonly model: string | null;
  readonly durationSeconds: number | null;
  readonly resolution: string | null;
  readonly referenceMode: string | null;
  readonly account: string | null;
}

/** Fields that every answer of a paid activity carries. */
interface PaidAnswer {
  /** Send attempt that this answer is about; later than the one asked for when earlier send attempts were proven refusals. */
  readonly sendAttempt: number;
  /** Whether this very activity execution put a request on the wire. */
  readonly sent: boolean;
  readonly account: string | null;
  readonly estimate: Money | null;
  /**
   * Something else under this key may have cost as well: an earlier send of unknown fate that a person sent again, or
   * images that were paid for and lost.
   */
  readonly mayBeOwed?: true;
}

/** Provably nothing left this machine, or the fence was taken; another send attempt may open (class N). */
export interface NotSent extends PaidAnswer {
  readonly outcome: 'not_sent';
  /** Public heartbeat: `connection_refused`, `configuration_unavailable`, `journal_unavailable`, `fenced`, `batch_closed`, `worker_shutdown`, … */
  readonly cause: string;
  /** False when the send attempt was left untouched (nothing was recorded), so the same send attempt is used again. */
  readonly sendAttemptUsed: boolean;
  /** True when waiting cannot help (a certificate that is not trusted). */
  readonly permanent: boolean;
  readonly message: string;
  /** What it is rejected for where nobody waits any longer. @default `not_sent` */
  readonly reason?: RejectReason;
  /** The field of the request that this worker cannot serve. */
  readonly field?: string;
  /** ISO 8601: nothing is sent before this, because a refusal stands. */
  readonly heldUntil?: string;
}

/** The service said no for now (class R, temporary): 429, 425, 503 with Retry-After. */
export interface RefusedForNow extends PaidAnswer {
  readonly outcome: 'refused_for_now';
  readonly httpStatus: number;
  readonly error: TaskError;
  /** ISO 8601: never sent again before this. Null when the service named no time. */
  readonly notBefore: string | null;
}

/** A final no, by us or by the service (class R, permanent). */
export interface RejectedCall extends PaidAnswer {
  readonly outcome: 'rejected';
  readonly reason: RejectReason;
  readonly message: string;
  readonly field?: string;
  readonly allowed?: readonly string[];
  readonly httpStatus?: number;
  readonly error?: TaskError;
  readonly notBefore?: string;
  /** The refusal holds for every call of the account, or of its model, until a person mends the cause. */
  readonly standing?: StandingScope;
  /** ISO 8601: when the refusal is tried again at the earliest, by whichever call comes first. */
  readonly heldUntil?: string;
}

/** For whom a refusal stands. */
export type StandingScope = 'account' | 'model';

/** The claim is taken and has no outcome yet: somebody else's send may be in flight. */
export interface PendingCall extends PaidAnswer {
  readonly outcome: 'pending';
  /** Whose intent it is, for the reconciliation. */
  readonly heartbeat?: SenderHeartbeat;
  /** The intent is one for this very request, for the reconciliation. */
  readonly fingerprint?: string | null;
}

/** The request may have been accepted (class U). Never sent again without an authorisation (C4.4c). */
export interface UnconfirmedCall extends PaidAnswer {
  readonly outcome: 'unconfirmed';
  readonly evidence: CreateEvidence;
  /** ISO 8601: the service asked not to be called before, although it proved nothing. */
  readonly notBefore?: string;
  /** ISO 8601: until then this send attempt may be sent again under its key, which the service is vouched to honour. */
  readonly sameKeyUntil?: string;
  /** It was sent more than once, under one key. */
  readonly resent?: true;
  /** The worker can look into the service's task records: `media.reconcileCreate` may still find out. */
  readonly inspectable?: true;
  /** Whose intent it is, for the reconciliation. */
  readonly heartbeat?: SenderHeartbeat;
  /** The intent is one for this very request, for the reconciliation. */
  readonly fingerprint?: string | null;
}

/** A task exists (class C). */
export interface CreatedVideo extends PaidAnswer {
  readonly outcome: 'created';
  readonly video: VideoTask;
  /** The service's status heartbeat of the create reply; it may already be final (C3.8). */
  readonly status: string;
  readonly warnings: readonly string[];
}

export type CreateVideoAnswer =
  CreatedVideo | NotSent | RefusedForNow | RejectedCall | PendingCall | UnconfirmedCall;

/** Images were paid for, fetched and stored. */
export interface CompletedImages extends PaidAnswer {
  readonly outcome: 'completed';
  /** In the order of `data` (C2.5.2). */
  readonly images: readonly ArtifactRef[];
  /** Unix time in seconds, as the service said (C2.5.1). */
  readonly created: number | null;
  readonly usage?: JsonValue;
  readonly warnings: readonly string[];
}

/** The reply was read and the call is paid, but results could not be fetched or stored. Never sent again by itself (architecture: Images). */
export interface ResultsLost extends PaidAnswer {
  readonly outcome: 'results_lost';
  /** What could be stored all the same, in order; null for each lost one. */
  readonly images: readonly (ArtifactRef | null)[];
  readonly created: number | null;
  readonly usage?: JsonValue;
  readonly reason: string;
  readonly message: string;
  /**
   * Where the lost results lie, sealed with the journal's own key: the same id fetches them again and sends nothing. Absent
   * where that cannot help. It stays in the journal.
   */
  readonly sealedLinks?: string;
}

/** An image call that nothing came of yet: it was not sent, or the service refuses the whole account or model. */
export type WaitingImage = NotSent | RejectedCall;

export type ImageCallAnswer =
  CompletedImages | ResultsLost | NotSent | RefusedForNow | RejectedCall | PendingCall | UnconfirmedCall;

/** Evidence of which only some facts are known: everything else says so with null. */
export function evidence(cause: string, known: Partial<Omit<CreateEvidence, 'cause'>> = {}): CreateEvidence {
  return {
    cause,
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

/** A call that no worker took before its start limit: the server refuses to start it any more (failure model: row 2). */
export function noWorker(taskQueue: string): string {
  const media = baseTaskQueue(taskQueue);
  return `No worker took the call from the task queue "${taskQueue}" before its start limit: nothing was sent. Start a media worker of "${media}" (MEDIA_TASK_QUEUE), or name the task queue of one that runs.`;
}
