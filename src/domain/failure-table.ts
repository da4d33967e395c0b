/**
 * One row for each outcome that is not a finished result (architecture: Outcomes): docs/failures.md shows the table,
 * the command line takes its hints from it. `type` is an outcome, or `rejected/<reason>`, `failed/<kind>`,
 * `content_unavailable/<reason>`.
 */
export interface FailureRow {
  /** Stable; as `temporal-media` prints it. */
  readonly type: string;
  /** One sentence: what happened. */
  readonly meaning: string;
  /** Whether the same call can be made again without another decision. */
  readonly retryable: 'yes' | 'no' | 'later';
  /** Whether the service may have a task. */
  readonly taskMayExist: 'yes' | 'no' | 'unknown';
  /** Whether the call may cost something. */
  readonly moneyMayBeOwed: 'yes' | 'no' | 'unknown';
  /** What a person does next. */
  readonly hint: string;
}

const row = (
  type: string,
  retryable: FailureRow['retryable'],
  taskMayExist: FailureRow['taskMayExist'],
  moneyMayBeOwed: FailureRow['moneyMayBeOwed'],
  meaning: string,
  hint: string,
): FailureRow => ({ type, meaning, retryable, taskMayExist, moneyMayBeOwed, hint });

/** A reason for which nothing was bought, as a row without its type. */
interface Rejection extends Omit<FailureRow, 'type'> {
  /** Whether the same call may be accepted later: a campaign that is run again takes the row again. */
  readonly temporary: boolean;
}

type Texts = readonly [
  retryable: FailureRow['retryable'],
  taskMayExist: FailureRow['taskMayExist'],
  moneyMayBeOwed: FailureRow['moneyMayBeOwed'],
  meaning: string,
  hint: string,
];

const rejection = (temporary: boolean, texts: Texts): Rejection => {
  const [retryable, taskMayExist, moneyMayBeOwed, meaning, hint] = texts;
  return { retryable, taskMayExist, moneyMayBeOwed, meaning, hint, temporary };
};
const temporary = (...texts: Texts): Rejection => rejection(true, texts);
const lasting = (...texts: Texts): Rejection => rejection(false, texts);

/** Why nothing was sent, or why the service refused. */
const REJECTIONS = {
  invalid_request: lasting(
    'no',
    'no',
    'unknown',
    'The request is wrong; refused before the send or by the service.',
    'Correct the request as the message of the service says, and start it again under the same id; where no message says what is wrong, compare it with what the service documents for the model.',
  ),
  moderation: lasting(
    'no',
    'no',
    'unknown',
    'The service refused the content before a task existed.',
    'Change the prompt or the references and start it again under the same id; check the bill, a service may charge for the validation.',
  ),
  quota: temporary(
    'no',
    'no',
    'no',
    'The account has no quota or balance left.',
    'Top up or raise the quota, then start again under the same id. Other calls of the account wait meanwhile and continue by themselves.',
  ),
  capacity: temporary(
    'later',
    'no',
    'no',
    'The service refused for lack of capacity.',
    'Try again later under the same id.',
  ),
  service_error: lasting(
    'later',
    'no',
    'no',
    'The service answered with an error that the operator vouches for as a refusal.',
    'Try again under a new id when the service has recovered.',
  ),
  credentials: temporary(
    'no',
    'no',
    'no',
    'The service did not accept the key or gives it no access.',
    'Fix MEDIA_API_KEY of the workers or the access rights, then start again under the same id. Other calls of the account wait meanwhile and continue by themselves.',
  ),
  account_not_configured: temporary(
    'no',
    'no',
    'no',
    'No worker that took the call before its start limit has this account.',
    'Start a worker with that credential and base address, or name an account that the workers have; then start again under the same id.',
  ),
  creation_key_conflict: lasting(
    'no',
    'no',
    'no',
    'The id was used for another request before.',
    'Use another id, or repeat the first request unchanged.',
  ),
  creation_key_required: lasting(
    'no',
    'no',
    'no',
    "No creation key can be derived that is certain to be this call's own.",
    'Give a creationKey, for example the id of the row or order it serves.',
  ),
  not_sent: temporary(
    'later',
    'no',
    'no',
    'The request provably never left: the service, a worker or a configuration could not be reached.',
    'Check that the service and the worker are up (`temporal-media doctor`), then start again under the same id.',
  ),
  internal_error: temporary(
    'later',
    'no',
    'no',
    'A mistake of temporal-media itself kept the request from being sent.',
    'Report it with the stack that the worker logged at ERROR. With a version that has no such mistake, start again under the same id.',
  ),
  retry_later: temporary(
    'later',
    'no',
    'no',
    'The service refused every send for now; nothing was accepted.',
    'Start again under the same id, not before the time it named.',
  ),
  unsafe_retry_policy: lasting(
    'no',
    'no',
    'no',
    'A paid activity without a journal was scheduled with retries.',
    'Set maximumAttempts to 1, or give the worker a journal.',
  ),
  unconfirmed_open: lasting(
    'no',
    'unknown',
    'unknown',
    'A call with this very body was sent under another id, and its fate is unknown. Nothing was sent now.',
    'Settle the open one first (`temporal-media unconfirmed`), or pass `--again` to buy another one anyway.',
  ),
  declared_lost: lasting(
    'no',
    'no',
    'unknown',
    'The fate of the call was unknown, or its results were lost, and a person declared it closed.',
    'Use a new id to buy it.',
  ),
  spend_limit: temporary(
    'later',
    'no',
    'no',
    'The spend limit of the account holds the call back, or the price of the call is unknown or above it. Nothing was sent.',
    'Wait for the next hour, day or month of the limit, raise `spendLimit` of the account, or give the model a price; then start again under the same id.',
  ),
  price_changed: temporary(
    'later',
    'no',
    'no',
    'The row of a campaign costs more now than when it was planned, or its price is no longer known. Nothing was sent.',
    'Run the campaign again under its id: it is planned, and confirmed, at the current price.',
  ),
} as const satisfies { readonly [reason: string]: Rejection };

/** Why nothing was sent, or why the service refused; public values. A new one is a row of the table above. */
export type RejectReason = keyof typeof REJECTIONS;

/** Whether the same call may be accepted after a rejection with this reason. */
export function isTemporary(reason: string): boolean {
  const rejections: { readonly [reason: string]: Rejection } = REJECTIONS;
  return Object.hasOwn(REJECTIONS, reason) && rejections[reason]?.temporary === true;
}

/** One row for each outcome that is not a success, and for each reason of a rejection; {@link failureRow} finds one. */
export const FAILURE_TABLE: readonly FailureRow[] = [
  row(
    'still_running',
    'later',
    'yes',
    'yes',
    'The wait ended before the video did; the service goes on with it.',
    'Resume it by its task id; nothing is created again.',
  ),
  row(
    'failed/moderation',
    'no',
    'yes',
    'unknown',
    'The service refused the content after it had accepted the task.',
    'Change the prompt or the references; check the bill, a failed job can still cost.',
  ),
  row(
    'failed/capacity',
    'later',
    'yes',
    'unknown',
    'The service had no capacity to finish the task.',
    'Try again later under a new id; check the bill first.',
  ),
  row(
    'failed/invalid',
    'no',
    'yes',
    'unknown',
    'The service found the request invalid after it had accepted the task.',
    'Fix the parameter that the error names and use a new id.',
  ),
  row(
    'failed/quota',
    'no',
    'yes',
    'unknown',
    'The account has no quota or balance left.',
    'Top up or raise the quota, then use a new id.',
  ),
  row(
    'failed/unknown',
    'no',
    'yes',
    'unknown',
    'The task failed with an error that is not recognised.',
    'Read the error before deciding about another attempt; it needs a new id.',
  ),
  row(
    'content_unavailable/not_ready',
    'later',
    'yes',
    'yes',
    'The task is completed, but its file did not become available in time.',
    'Resume it by its task id later.',
  ),
  row(
    'content_unavailable/expired',
    'no',
    'yes',
    'yes',
    'The file was there and has expired.',
    'Ask the service for the file of this task id; creating again costs again.',
  ),
  row(
    'content_unavailable/not_video',
    'later',
    'yes',
    'yes',
    'The downloaded file is not a video; its bytes are kept as rejected.',
    'Look at the rejected bytes; resume by the task id later.',
  ),
  row(
    'content_unavailable/incomplete_file',
    'later',
    'yes',
    'yes',
    'The file never arrived whole.',
    'Resume it by its task id.',
  ),
  row(
    'content_unavailable/auth',
    'later',
    'yes',
    'yes',
    'The credentials do not open the file.',
    'Fix the credentials of the worker, then resume by the task id.',
  ),
  row(
    'content_unavailable/blocked',
    'no',
    'yes',
    'yes',
    'The file is at an address that this worker must not fetch from.',
    'Check where the service redirects to; allow that origin if you trust it (MEDIA_ALLOWED_MEDIA_ORIGINS), then resume.',
  ),
  row(
    'content_unavailable/storage',
    'later',
    'yes',
    'yes',
    'The artifact store could not take the file.',
    'Make room or fix the rights of the store, then resume by the task id.',
  ),
  row(
    'task_unknown',
    'no',
    'unknown',
    'unknown',
    'The service said for a minute that it does not know a task id that the caller gave, and no poll of this wait found the task. A task that it found before, or that a create of ours made, is waited for until the deadline.',
    'Check the id, the account and the path /v1/videos/{task_id}. It is not a failed video and not a reason to create another one.',
  ),
  row(
    'unconfirmed',
    'no',
    'unknown',
    'unknown',
    'The create was sent once and its fate is unknown.',
    'Look into the task records of the service with the evidence, then adopt its task, declare it lost or resubmit it (`temporal-media unconfirmed`). Nothing is sent again until then.',
  ),
  row(
    'results_lost',
    'later',
    'yes',
    'yes',
    'The image call was answered and is paid, but results could not be kept.',
    'Mend what the message names (the store, or MEDIA_ALLOWED_MEDIA_ORIGINS of the worker), then start the same id again: where the outcome says `fetchable`, what is missing is fetched while its links live, and nothing is sent. Another id costs again.',
  ),
  row(
    'cancelled',
    'yes',
    'unknown',
    'unknown',
    'The caller cancelled. A task that existed goes on: the service has no cancel.',
    'If a task id is named, resume it; otherwise `billing.state` says whether money may be owed.',
  ),
  ...Object.entries<Rejection>(REJECTIONS).map(([reason, { temporary: _, ...texts }]) => ({
    type: `rejected/${reason}`,
    ...texts,
  })),
];

/** Replaces the texts of `rejected/invalid_request` when the field is known. */
const WRONG_FIELD: Pick<FailureRow, 'meaning' | 'hint'> = {
  meaning: 'A field of the request is wrong; refused before the send or by the service.',
  hint: 'Correct what the message names and start it again under the same id; the allowed values are listed where they are known.',
};

/** The row of an outcome; undefined for `completed`. */
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
