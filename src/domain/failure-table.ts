import { OUTCOME_ADVICE } from './advice';

/**
 * One row for each outcome that is not a finished result (architecture: Outcomes). docs/failures.md shows the table,
 * and the command line takes its hints from it. `type` is an outcome, or `rejected/<reason>`, `failed/<kind>`,
 * `content_unavailable/<reason>`.
 */
export interface FailureRow {
  /** Stable; as `temporal-media` prints it. */
  readonly type: string;
  /** One sentence: what happened. */
  readonly meaning: string;
  /** Whether the same call can be made again without a new decision. */
  readonly retryable: 'yes' | 'no' | 'later';
  /** Whether the service may have a task. */
  readonly taskMayExist: 'yes' | 'no' | 'unknown';
  /** Whether the call may cost money. */
  readonly moneyMayBeOwed: 'yes' | 'no' | 'unknown';
  /** What a person should do next. */
  readonly hint: string;
}

/** What a caller may conclude from an outcome. */
type Facts = readonly [
  retryable: FailureRow['retryable'],
  taskMayExist: FailureRow['taskMayExist'],
  moneyMayBeOwed: FailureRow['moneyMayBeOwed'],
];

const row = (type: keyof typeof OUTCOME_ADVICE, facts: Facts, meaning: string): FailureRow => {
  const [retryable, taskMayExist, moneyMayBeOwed] = facts;
  return { type, meaning, retryable, taskMayExist, moneyMayBeOwed, hint: OUTCOME_ADVICE[type][0] };
};

/** A reason for which nothing was bought. */
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
    'The request is wrong; refused before the send or by the service.',
  ),
  moderation: lasting(['no', 'no', 'unknown'], 'The service refused the content before a task existed.'),
  quota: temporary(['no', 'no', 'no'], 'The account has no quota or balance left.'),
  capacity: temporary(['later', 'no', 'no'], 'The service refused for lack of capacity.'),
  service_error: lasting(
    ['later', 'no', 'no'],
    'The service answered with an error that the operator vouches for as a refusal.',
  ),
  credentials: temporary(['no', 'no', 'no'], 'The service did not accept the key or denies it access.'),
  account_not_configured: temporary(
    ['no', 'no', 'no'],
    'No worker that took the call before its start limit has this account.',
  ),
  creation_key_conflict: lasting(['no', 'no', 'no'], 'The id was used for another request before.'),
  creation_key_required: lasting(
    ['no', 'no', 'no'],
    'No creation key can be derived that certainly belongs to this call alone.',
  ),
  not_sent: temporary(
    ['later', 'no', 'no'],
    'The request provably never left: the service, a worker or a configuration could not be reached.',
  ),
  internal_error: temporary(
    ['later', 'no', 'no'],
    'A defect of temporal-media prevented the request from being sent.',
  ),
  retry_later: temporary(
    ['later', 'no', 'no'],
    'The service refused every send temporarily; nothing was accepted.',
  ),
  unsafe_retry_policy: lasting(
    ['no', 'no', 'no'],
    'A paid activity without a journal was scheduled with retries.',
  ),
  unconfirmed_open: lasting(
    ['no', 'unknown', 'unknown'],
    'A call with this very body was sent under another id, and its fate is unknown. Nothing was sent now.',
  ),
  declared_lost: lasting(
    ['no', 'no', 'unknown'],
    'The fate of the call was unknown, or its results were lost, and a person declared it closed.',
  ),
  spend_limit: temporary(
    ['later', 'no', 'no'],
    'The spend limit of the account holds the call back, or the price of the call is unknown or above it. Nothing was sent.',
  ),
  price_changed: temporary(
    ['later', 'no', 'no'],
    'The row of a campaign costs more now than when it was planned, or its price is no longer known. Nothing was sent.',
  ),
} as const satisfies { readonly [reason: string]: Rejection };

/** Why nothing was sent, or why the service refused. Public values; a new one needs a row in the table above. */
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
    'The wait ended before the video was finished. The service continues with it.',
  ),
  row(
    'failed/moderation',
    ['no', 'yes', 'unknown'],
    'The service refused the content after it had accepted the task.',
  ),
  row('failed/capacity', ['later', 'yes', 'unknown'], 'The service had no capacity to finish the task.'),
  row(
    'failed/invalid',
    ['no', 'yes', 'unknown'],
    'The service found the request invalid after it had accepted the task.',
  ),
  row('failed/quota', ['no', 'yes', 'unknown'], 'The account has no quota or balance left.'),
  row('failed/unknown', ['no', 'yes', 'unknown'], 'The task failed with an unrecognized error.'),
  row(
    'content_unavailable/not_ready',
    ['later', 'yes', 'yes'],
    'The task is completed, but its file did not become available in time.',
  ),
  row('content_unavailable/expired', ['no', 'yes', 'yes'], 'The file was available and has expired.'),
  row(
    'content_unavailable/not_video',
    ['later', 'yes', 'yes'],
    'The downloaded file is not a video; its bytes are kept as rejected.',
  ),
  row('content_unavailable/incomplete_file', ['later', 'yes', 'yes'], 'The file never arrived completely.'),
  row('content_unavailable/auth', ['later', 'yes', 'yes'], 'The credentials do not open the file.'),
  row(
    'content_unavailable/blocked',
    ['no', 'yes', 'yes'],
    'The file is at an address that this worker must not fetch from.',
  ),
  row('content_unavailable/storage', ['later', 'yes', 'yes'], 'The artifact store could not take the file.'),
  row(
    'task_unknown',
    ['no', 'unknown', 'unknown'],
    'The service said for a minute that it does not know a task id that the caller gave, and no poll of this wait found the task. A task that it found before, or that a create of ours made, is waited for until the deadline.',
  ),
  row('unconfirmed', ['no', 'unknown', 'unknown'], 'The create was sent once and its fate is unknown.'),
  row(
    'results_lost',
    ['later', 'yes', 'yes'],
    'The service replied to the image call and it is paid, but results could not be stored.',
  ),
  row(
    'cancelled',
    ['yes', 'unknown', 'unknown'],
    'The caller canceled. An existing task continues: the service has no cancel.',
  ),
  ...(Object.keys(REJECTIONS) as RejectReason[]).map((reason) =>
    row(`rejected/${reason}`, REJECTIONS[reason].facts, REJECTIONS[reason].meaning),
  ),
];

/** Replaces the texts of `rejected/invalid_request` if the field is known. */
const WRONG_FIELD: Pick<FailureRow, 'meaning' | 'hint'> = {
  meaning: 'A field of the request is wrong; refused before the send or by the service.',
  hint: 'Correct what the message names and start it again under the same id; the allowed values are listed where they are known.',
};

/** Returns an outcome's row; undefined for `completed`. */
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
