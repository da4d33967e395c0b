import { ApplicationFailure } from '@temporalio/common';
import { type CreateJournal } from '../domain/journal';
import { type LogEntry, purchaseOf, type Send } from '../domain/log-entries';
import { isUnknown, type KeyState, stateOf } from '../domain/paid-log';
import {
  type CreatedEntry,
  type DecidedEntry,
  type ReviewJournalInput,
  type ReviewJournalPage,
  type UnconfirmedEntry,
} from '../domain/unconfirmed-decision';
import { FAILURE } from './failures';
import { orRetry } from './journal-failures';
import { JournalRecordError } from '../journal/records';
import { mayBeAlive } from './sender';
import { caller } from './paid-context';
import { recordedAnswer, unconfirmedBySend } from './paid-answers';

/** Creation keys of one scan of the journal; the activity may stop between two scans. */
const BATCH = 100;
/** A page ends after so many entries, or after so many milliseconds. */
const PAGE_ENTRIES = 200;
const PAGE_MS = 15_000;

/**
 * Lists one page of the calls of unknown fate, the tasks or the decisions of the caller's namespace. Changes nothing.
 */
export function createReviewJournal(deps: {
  readonly journal: CreateJournal;
}): (input: ReviewJournalInput) => Promise<ReviewJournalPage> {
  return async (input) => {
    const { journal } = deps;
    const { namespace, startedAt, now } = caller();
    const unconfirmed: UnconfirmedEntry[] = [];
    const created: CreatedEntry[] = [];
    const decided: DecidedEntry[] = [];
    let scanned = 0;
    const take = (log: readonly LogEntry[]): void => {
      scanned += 1;
      const state = stateOf(log);
      const isMeant = ({ sent }: Send): boolean =>
        sent.namespace === namespace &&
        !(input.since !== undefined && Date.parse(sent.at) < Date.parse(input.since)) &&
        (input.creationKey === undefined || sent.creationKey === input.creationKey);
      for (const [at, send] of state.sends.entries()) {
        if (!isMeant(send)) continue;
        if (input.list === 'unconfirmed') unconfirmed.push(...unconfirmedEntry(state, at, now()));
        else if (input.list === 'decided') decided.push(...decidedEntry(send, at));
        else created.push(...createdEntry(send, at));
      }
    };
    try {
      if (input.creationKey !== undefined) {
        const log = await journal.read({ namespace, creationKey: input.creationKey });
        if (log.length > 0) take(log);
        return { unconfirmed, created, decided, scanned, next: null };
      }
      let next = input.after ?? null;
      do {
        const page = await journal.scan(next, BATCH);
        for (const log of page.logs) take(log);
        ({ next } = page);
      } while (
        next !== null &&
        unconfirmed.length + created.length + decided.length < PAGE_ENTRIES &&
        performance.now() < startedAt + PAGE_MS
      );
      return { unconfirmed, created, decided, scanned, next };
    } catch (error) {
      // A retry cannot read an unreadable record, so the failure is final and its message names the kind of record.
      if (error instanceof JournalRecordError)
        throw ApplicationFailure.nonRetryable(error.message, FAILURE.journalUnavailable);
      return orRetry(error);
    }
  };
}

/** The send of a key that waits for a decision, or may be in flight. */
function unconfirmedEntry(state: KeyState, at: number, now: number): readonly UnconfirmedEntry[] {
  const send = state.sends[at] as Send;
  if (!isUnknown(send) && state.open !== at) return [];
  const { sent } = send;
  const answer = recordedAnswer(state, at);
  const isLost = answer.outcome === 'results_lost';
  const { evidence } =
    answer.outcome === 'unconfirmed' ? answer : unconfirmedBySend(send, at, answer.outcome);
  const { creationKey, operation, workflowId, runId } = sent;
  return [
    {
      creationKey,
      sendAttempt: at,
      operation,
      state: isLost
        ? 'results_lost'
        : isUnknown(send) || !mayBeAlive(state, now)
          ? 'unconfirmed'
          : 'in_flight',
      evidence,
      estimate: sent.kind === 'intent' ? sent.estimate : null,
      workflowId,
      runId,
      fetchable: isLost && answer.sealedLinks !== undefined,
    },
  ];
}

/** Includes a task that was adopted. */
function createdEntry(send: Send, sendAttempt: number): readonly CreatedEntry[] {
  const answer = purchaseOf(send);
  if (answer?.outcome !== 'created') return [];
  const { taskId, account, model, createdAt } = answer.video;
  const { creationKey, workflowId, runId, activityId } = send.sent;
  return [{ creationKey, sendAttempt, taskId, account, model, createdAt, workflowId, runId, activityId }];
}

function decidedEntry({ sent, decision }: Send, sendAttempt: number): readonly DecidedEntry[] {
  if (decision === null) return [];
  const { by, reason, at, answer } = decision;
  const taskId = answer?.outcome === 'created' ? answer.video.taskId : null;
  const { creationKey, nonce: sendId } = sent;
  return [{ creationKey, sendAttempt, sendId, decision: decision.decision, by, reason, at, taskId }];
}
