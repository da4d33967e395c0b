import { cancellationSignal } from '@temporalio/activity';
import { otherwise } from '../domain/bug';
import { type NotSent } from '../domain/paid-call';
import { type Acknowledgement, isTooLate, type SendWindow } from './sender';
import { type AnswerBase, UNDER_INTENT, unsentAnswer } from './paid-answers';
import { type Caller, type MissingHere } from './paid-context';
import { setTimeout } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { fenceLog, ownerLog, type OwnerRecord } from '../domain/campaign/budget-book';
import { type CreateJournal } from '../domain/journal';
import { BATCH_CLOSED } from '../domain/names';
import { journalDown } from './journal-failures';

/**
 * Settles a shutdown, a cancellation or a late start before the send as not sent; later nothing is cut off (failure
 * model: row 12).
 */
export function stopsBeforeSend(base: AnswerBase, who: Caller, window: SendWindow): NotSent | undefined {
  const { budgetMs } = window;
  // No retry of this run gets more time.
  if (who.startToCloseMs < budgetMs) {
    const final = { ...UNDER_INTENT, permanent: true };
    return unsentAnswer(base, 'execution_expires', tooShort(who, budgetMs), final);
  }
  if (isTooLate(window)) return unsentAnswer(base, 'own_deadline', TOO_LATE, UNDER_INTENT);
  return cancellationSignal().aborted
    ? unsentAnswer(base, 'worker_shutdown', STOPPED, UNDER_INTENT)
    : undefined;
}

const TOO_LATE = 'Preparing the request took too long, and nothing was sent.';
const STOPPED = 'The worker stopped before the request was sent.';

/** For what comes before and after the request, in milliseconds. */
const LEAST_MARGIN_MS = 20_000;

function tooShort({ startToCloseMs, scheduleToCloseMs }: Caller, budgetMs: number): string {
  const [given, needed, least] = [startToCloseMs, budgetMs, budgetMs + LEAST_MARGIN_MS].map(
    (ms) => `${ms / 1000} s`,
  );
  // The server limits both timeouts to the rest of an execution: where they differ, the activity's own one is too
  // short.
  return startToCloseMs < scheduleToCloseMs || scheduleToCloseMs === 0
    ? `startToCloseTimeout of this activity is ${given}, but the service may take ${needed} to answer, so nothing was sent. Set startToCloseTimeout to ${least} or more.`
    : `The workflow would expire before the service had ${needed} to answer, so nothing was sent. Give it a longer execution or run timeout, and an activity of your own at least ${least} of scheduleToCloseTimeout.`;
}

export const NO_ACCOUNT: MissingHere = {
  cause: 'account_not_configured',
  reason: 'account_not_configured',
  message:
    'This worker has no such account, and nothing was sent. A worker that has it takes the call; name an account that the workers have, or start one with that credential and base address.',
  field: 'account',
};

export const NO_KEY: MissingHere = {
  cause: 'no_key',
  reason: 'credentials',
  message:
    'This worker has no key for the account (MEDIA_API_KEY, MEDIA_API_KEY_FILE or its keyFile in MEDIA_ACCOUNTS), and nothing was sent. Give the worker a key: the call goes on by itself.',
};

/** Milliseconds that a worker holds a call that it cannot serve: if it refused at once, it would attract all calls. */
const UNSERVED_MS = 1_000;

export async function kept<Answer>(answer: Answer): Promise<Answer> {
  await setTimeout(UNSERVED_MS, undefined, { signal: cancellationSignal() }).catch(otherwise(undefined));
  return answer;
}

/** A request is not sent unless the server knows of it: if the journal were lost, no trace would remain. */
export function unannounced(base: AnswerBase, acknowledgement: Acknowledgement): NotSent | undefined {
  if (acknowledgement === 'acknowledged') return undefined;
  return acknowledgement === 'stopped'
    ? unsentAnswer(base, 'worker_shutdown', CANCELLED, UNDER_INTENT)
    : unsentAnswer(base, 'server_not_notified', NOT_ACKNOWLEDGED, UNDER_INTENT);
}

const CANCELLED = 'The call was cancelled or paused before the request was sent.';
const NOT_ACKNOWLEDGED = 'The Temporal server did not answer before the request, and nothing was sent.';

/**
 * Why a request whose intent is written may not be sent out of a batch's money; undefined where it may. The close of a
 * batch writes its fence before it reads the intents, so that it reads those of all requests that pass this check. The
 * owner is recorded first, so that the close also finds the run of a request that may still be sent.
 */
export async function payerRefusal(
  journal: CreateJournal,
  payer: string | undefined,
  { namespace, runId }: Pick<Caller, 'namespace' | 'runId'>,
  base: AnswerBase,
): Promise<NotSent | undefined> {
  if (payer === undefined) return undefined;
  try {
    if (!(await ownsBatch(journal, namespace, payer, runId)))
      return unsentAnswer(base, BATCH_CLOSED, NOT_THE_OWNER, UNDER_INTENT);
    const fence = await journal.readRecord(fenceLog(namespace, payer), 0);
    return fence === null ? undefined : unsentAnswer(base, BATCH_CLOSED, CLOSED, UNDER_INTENT);
  } catch (error) {
    return { ...journalDown(base)(error), ...UNDER_INTENT };
  }
}

const CLOSED =
  'The batch of the campaign that was to pay for this is closed, and nothing was sent. Its campaign gives the row to another batch.';
const NOT_THE_OWNER =
  'Another run of this batch of the campaign spends its money, and nothing was sent: a batch that was reset does not know what was spent before. Its campaign gives the row to another batch.';

/** Whether this run may spend the money of a batch: the first run that opens one of its pages, or wants to send. */
export async function ownsBatch(
  journal: CreateJournal,
  namespace: string,
  payer: string,
  runId: string | null,
): Promise<boolean> {
  const run = runId ?? '';
  const log = ownerLog(namespace, payer);
  const read = async () => (await journal.readRecord(log, 0)) as OwnerRecord | null;
  const owner = await read();
  if (owner !== null) return owner.run === run;
  const record: OwnerRecord = { v: 1, kind: 'owner', run, at: new Date().toISOString() };
  return (await journal.putRecord(log, 0, record)) === 'won' || (await read())?.run === run;
}

/** Permanently stops sends out of a batch's money. */
export async function fenceBatch(journal: CreateJournal, namespace: string, payer: string): Promise<void> {
  const log = fenceLog(namespace, payer);
  if ((await journal.readRecord(log, 0)) !== null) return;
  await journal.putRecord(log, 0, {
    v: 1,
    kind: 'fence',
    nonce: randomUUID(),
    at: new Date().toISOString(),
  });
}
