import { ActivityFailure, CancelledFailure, TimeoutFailure } from '@temporalio/workflow';
import { DEFAULT_START_LIMIT_MS, type CreateOnceState } from '../domain/create-once';
import { type CreatePolicy } from '../domain/create-policy';
import { evidence, noWorker } from '../domain/evidence';
import { type SenderTrace, wordInAnswer, wordOf } from '../domain/journal-proof';
import { type CallFacts, type CreateVideoAnswer, type ReconcileCreateInput } from '../domain/paid-call';
import { neverStarted, type StartWait } from './never-started';
import { reconcileCreateActivity } from './proxies';

/** How an activity ended without a value: a person reads the word in the evidence. */
export interface NoValue {
  readonly cause: string;
  /** The server refused to start it any more: no worker ever had it (failure model: row 2). */
  readonly neverStarted: boolean;
  /** Details of the last heartbeat; null where the server has told of none. */
  readonly heartbeat: unknown;
}

/** The race was won by the workflow's own timer: what the server heard is not known. */
export const NO_ANSWER: NoValue = { cause: 'no_answer_in_time', neverStarted: false, heartbeat: null };

/** What a create that failed says of itself. Throws what is no failure of an activity. */
export function noValue(error: unknown, wait: StartWait): NoValue {
  if (!(error instanceof ActivityFailure)) throw error;
  const { cause } = error;
  // WAIT_CANCELLATION_COMPLETED: only a create that no worker had is reported as cancelled.
  if (cause instanceof CancelledFailure)
    return { cause: 'cancelled_before_start', neverStarted: true, heartbeat: null };
  if (!(cause instanceof TimeoutFailure))
    return { cause: 'activity_failed', neverStarted: false, heartbeat: null };
  const unseen = neverStarted(cause, wait);
  const heartbeat: unknown = cause.lastHeartbeatDetails ?? null;
  return { cause: unseen ? 'no_worker' : 'worker_lost', neverStarted: unseen, heartbeat };
}

/**
 * What is known of those who may have sent. What no worker had, and none can get any more, is proved by the server:
 * whichever journal the queue belongs to later. @param place of a row in its group
 */
export function senderTrace(
  got: NoValue | CreateVideoAnswer,
  scheduledAt: string,
  place?: number,
): SenderTrace {
  if ('outcome' in got) return { heard: wordInAnswer(got), scheduledAt };
  return { heard: wordOf(got.heartbeat, place), scheduledAt: got.neverStarted ? LATEST : scheduledAt };
}

/** The latest time that a date can say. */
const LATEST = new Date(8.64e15).toISOString();

export interface ReconcileOptions {
  readonly taskQueue: string;
  readonly account: string | undefined;
  readonly policy: CreatePolicy | undefined;
  /** What is left to say when no worker could read the journal. */
  readonly facts: CallFacts;
}

/** The fingerprint in an answer that compared requests, as an input. */
export function comparedIn(answer: CreateVideoAnswer): Pick<ReconcileCreateInput, 'fingerprint'> {
  return 'fingerprint' in answer ? { fingerprint: answer.fingerprint } : {};
}

/**
 * One reconciliation of one epoch (failure model: The journal), after a create that brought no value.
 * @param got why the create brought nothing, or its answer: somebody else holds its epoch, or the fate is unknown
 * @param senders what is known of those who may have sent
 */
export async function reconcileEpoch(
  { creationKey, epoch }: Pick<CreateOnceState, 'creationKey' | 'epoch'>,
  { taskQueue, account, policy, facts }: ReconcileOptions,
  got: NoValue | CreateVideoAnswer,
  senders: SenderTrace,
): Promise<CreateVideoAnswer> {
  const lost = 'outcome' in got ? null : got;
  const look = reconcileCreateActivity({
    taskQueue,
    // Where no worker took the create, none is waited for as long again. After a possible send the wait has nothing to
    // do with the limit for unsent creates: a recorded task id must not be given up because a worker is away.
    startLimitMs: lost?.neverStarted === true ? 60_000 : DEFAULT_START_LIMIT_MS,
    summary: `reconcile, epoch ${epoch}`,
  });
  try {
    return await look({
      creationKey,
      epoch,
      senders,
      facts,
      ...(account === undefined ? {} : { account }),
      ...(policy === undefined ? {} : { policy }),
      ...('outcome' in got && comparedIn(got)),
    });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const common = { epoch, sent: false, account: account ?? null, estimate: null };
    if (lost?.neverStarted === true) {
      return {
        ...common,
        outcome: 'not_sent',
        cause: 'no_worker',
        epochUsed: false,
        permanent: true,
        message: noWorker(taskQueue),
      };
    }
    const known = evidence(lost?.cause ?? 'reconcile_failed', { ...facts, account: account ?? null });
    return { ...common, outcome: 'unconfirmed', evidence: known };
  }
}
