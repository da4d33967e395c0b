import { OUTCOME_ADVICE } from './advice';

/**
 * One row for each outcome that is not a finished result (architecture: Outcomes). docs/failures.md shows the table,
 * and the command line takes its hints from it. `type` is an outcome, or `rejected/<reason>`, `failed/<kind>`,
 * `content_unavailable/<reason>`.
 */
export interface FailureRow {
  /** Stable. `temporal-media` prints it as the error type. */
  readonly type: string;
  /** One sentence: what happened. */
  readonly meaning: string;
  /** Whether the same call can be made again without a new decision. */
  readonly retryable: 'yes' | 'no' | 'later';
  /** Whether the service might have a task. */
  readonly taskMayExist: 'yes' | 'no' | 'unknown';
  /** Whether the call may cost money. */
  readonly moneyMayBeOwed: 'yes' | 'no' | 'unknown';
  /** What a person should do next. */
  readonly hint: string;
}

/** What a caller can conclude from an outcome. */
type Facts = readonly [
  retryable: FailureRow['retryable'],
  taskMayExist: FailureRow['taskMayExist'],
  moneyMayBeOwed: FailureRow['moneyMayBeOwed'],
];

const row = (type: keyof typeof OUTCOME_ADVICE, facts: Facts, meaning: string): FailureRow => {
  const [retryable, taskMayExist, moneyMayBeOwed] = facts;
  return { type, meaning, retryable, taskMayExist, moneyMayBeOwed, hint: OUTCOME_ADVICE[type][0] };
};

/** Why nothing was bought. */
interface Rejection {
  readonly facts: Facts;
  readonly meaning: string;
  /** Whether the same call may be accepted later. If so, running the campaign again retries the row. */
  readonly temporary: boolean;
}

const temporary = (facts: Facts, meaning: string): Rejection => ({ facts, meaning, temporary: true });
const lasting = (facts: Facts, meaning: string): Rejection => ({ facts, meaning, temporary: false });

/** Why nothing was sent, or why the service refused. */
const REJECTIONS = {
  invalid_request: lasting(
    ['no', 'no', 'unknown'],
    'The request is invalid. It was rejected before it was sent, or by the service.',
  ),
  moderation: lasting(['no', 'no', 'unknown'], 'The service rejected the content before creating a task.'),
  quota: temporary(['no', 'no', 'no'], 'The account has no quota or balance left.'),
  capacity: temporary(['later', 'no', 'no'], 'The service rejected the request for lack of capacity.'),
  service_error: lasting(
    ['later', 'no', 'no'],
    'The service returned an error that the operator has configured as a proven refusal.',
  ),
  credentials: temporary(['no', 'no', 'no'], 'The service rejected the API key or denied it access.'),
  account_not_configured: temporary(
    ['no', 'no', 'no'],
    'No worker that received the call before its start limit has this account.',
  ),
  creation_key_conflict: lasting(['no', 'no', 'no'], 'The id has already been used for another request.'),
  creation_key_required: lasting(
    ['no', 'no', 'no'],
    'No creation key was passed, and none can be derived that is guaranteed to be unique to this call.',
  ),
  not_sent: temporary(
    ['later', 'no', 'no'],
    'The request was provably never sent: the service, a worker or a configuration could not be reached.',
  ),
  internal_error: temporary(
    ['later', 'no', 'no'],
    'A bug in temporal-media prevented the request from being sent.',
  ),
  retry_later: temporary(
    ['later', 'no', 'no'],
    'The service temporarily refused every attempt. Nothing was accepted.',
  ),
  unsafe_retry_policy: lasting(
    ['no', 'no', 'no'],
    'A paid activity without a journal was scheduled with retries.',
  ),
  unconfirmed_open: lasting(
    ['no', 'unknown', 'unknown'],
    'A call with the same body was sent under another id, and its outcome is unknown. This call was not sent.',
  ),
  declared_lost: lasting(
    ['no', 'no', 'unknown'],
    "The call's outcome was unknown or its results were lost, and a person declared it lost.",
  ),
  spend_limit: temporary(
    ['later', 'no', 'no'],
    "The account's spend limit has been reached, or the call's price is unknown or above the limit. Nothing was sent.",
  ),
  price_changed: temporary(
    ['later', 'no', 'no'],
    'The campaign row costs more than when it was planned, or its price is no longer known. Nothing was sent.',
  ),
} as const satisfies { readonly [reason: string]: Rejection };

/** Why nothing was sent, or why the service refused. Public values. A new value needs a row in the table above. */
export type RejectReason = keyof typeof REJECTIONS;

/** Whether the same call may be accepted after a rejection with this reason. */
export function isTemporary(reason: string): boolean {
  const rejections: { readonly [reason: string]: Rejection } = REJECTIONS;
  return Object.hasOwn(REJECTIONS, reason) && rejections[reason]?.temporary === true;
}

/** One row for each outcome that is not a success, and for each rejection reason. {@link failureRow} looks one up. */
export const FAILURE_TABLE: readonly FailureRow[] = [
  row(
    'still_running',
    ['later', 'yes', 'yes'],
    'The wait ended before the video was finished. The service is still working on it.',
  ),
  row(
    'failed/moderation',
    ['no', 'yes', 'unknown'],
    'The service rejected the content after accepting the task.',
  ),
  row('failed/capacity', ['later', 'yes', 'unknown'], 'The service had no capacity to finish the task.'),
  row(
    'failed/invalid',
    ['no', 'yes', 'unknown'],
    'The service found the request invalid after accepting the task.',
  ),
  row('failed/quota', ['no', 'yes', 'unknown'], 'The account has no quota or balance left.'),
  row('failed/unknown', ['no', 'yes', 'unknown'], 'The task failed with an unrecognized error.'),
  row(
    'content_unavailable/not_ready',
    ['later', 'yes', 'yes'],
    'The task is completed, but its file did not become available in time.',
  ),
  row('content_unavailable/expired', ['no', 'yes', 'yes'], 'The file was available but has expired.'),
  row(
    'content_unavailable/not_video',
    ['later', 'yes', 'yes'],
    'The downloaded file is not a video. It is kept as a rejected file.',
  ),
  row(
    'content_unavailable/incomplete_file',
    ['later', 'yes', 'yes'],
    'The file was never downloaded completely.',
  ),
  row('content_unavailable/auth', ['later', 'yes', 'yes'], 'The credentials do not give access to the file.'),
  row(
    'content_unavailable/blocked',
    ['no', 'yes', 'yes'],
    'The file is at an address that the worker is not allowed to fetch from.',
  ),
  row('content_unavailable/storage', ['later', 'yes', 'yes'], 'The artifact store could not store the file.'),
  row(
    'task_unknown',
    ['no', 'unknown', 'unknown'],
    'For one minute, the service reported that the task id passed by the caller does not exist, and no poll found the task. For a task that was found earlier or created by this package, the wait continues until the deadline.',
  ),
  row(
    'unconfirmed',
    ['no', 'unknown', 'unknown'],
    'The create request was sent once, and its outcome is unknown.',
  ),
  row(
    'results_lost',
    ['later', 'yes', 'yes'],
    'The service completed and charged for the image call, but some results could not be stored.',
  ),
  row(
    'cancelled',
    ['yes', 'unknown', 'unknown'],
    'The caller canceled the call. An existing task keeps running, because the service cannot cancel tasks.',
  ),
  ...(Object.keys(REJECTIONS) as RejectReason[]).map((reason) =>
    row(`rejected/${reason}`, REJECTIONS[reason].facts, REJECTIONS[reason].meaning),
  ),
];

/** Replaces the meaning and hint of `rejected/invalid_request` if the field is known. */
const WRONG_FIELD: Pick<FailureRow, 'meaning' | 'hint'> = {
  meaning:
    'A field of the request is invalid. The request was rejected before it was sent, or by the service.',
  hint: 'Fix the field named in the message, then start it again under the same id. If the allowed values are known, they are listed.',
};

/** Returns an outcome's row, or undefined for `completed`. */
export function failureRow(outcome: {
  readonly outcome: string;
  readonly reason?: string;
  readonly field?: string;
  readonly error?: { readonly kind: string };
}): FailureRow | undefined {
  const detail = outcome.outcome === 'failed' ? outcome.error?.kind : outcome.reason;
  const found =
    FAILURE_TABLE.find((candidate) => candidate.type === `${outcome.outcome}/${detail}`) ??
    FAILURE_TABLE.find((candidate) => candidate.type === outcome.outcome);
  const hasField = found?.type === 'rejected/invalid_request' && outcome.field !== undefined;
  return hasField ? { ...found, ...WRONG_FIELD } : found;
}
