import { ApplicationFailure } from '@temporalio/common';
import { type CreateJournal, type SendAttemptView, isUndecided, type ClaimIntent } from '../domain/journal';
import {
  type CreatedEntry,
  type DecidedEntry,
  type ReviewJournalInput,
  type ReviewJournalPage,
  type UnconfirmedEntry,
} from '../domain/unconfirmed-decision';
import { FAILURE } from './failures';
import { journalUnavailable } from './journal-failures';
import { JournalRecordError } from '../journal/records';
import { awaitsDecision } from './await-sender';
import { caller } from './paid-context';
import { unconfirmedAfterIntent } from './paid-answers';

/** Creation keys of one scan of the journal; the activity may stop between two scans. */
const BATCH = 100;
/** A page ends after so many entries, or after so many milliseconds. */
const PAGE_ENTRIES = 200;
const PAGE_MS = 15_000;

/**
 * Lists one page of the calls of unknown fate, the tasks or the decisions of the caller's namespace. Changes nothing.
 */
export function createReviewJournal(deps: {
  readonly journal: CreateJournal | 'none';
}): (input: ReviewJournalInput) => Promise<ReviewJournalPage> {
  return async (input) => {
    const { journal } = deps;
    if (journal === 'none') return { unconfirmed: [], created: [], decided: [], scanned: 0, next: null };
    const { namespace, startedAt, now } = caller();
    const unconfirmed: UnconfirmedEntry[] = [];
    const created: CreatedEntry[] = [];
    const decided: DecidedEntry[] = [];
    let scanned = 0;
    const take = (sendAttempts: readonly (SendAttemptView & { readonly sendAttempt: number })[]): void => {
      scanned += 1;
      /** A later sender knew that nothing was accepted in a send attempt without a recorded outcome. */
      const isPassed = (view: SendAttemptView, at: number): boolean =>
        view.outcome === null &&
        sendAttempts.some(({ sendAttempt, claim }) => sendAttempt > at && claim?.kind === 'intent');
      for (const { sendAttempt, ...view } of sendAttempts) {
        const { claim } = view;
        if (claim?.kind !== 'intent' || claim.namespace !== namespace) continue;
        if (input.since !== undefined && Date.parse(claim.at) < Date.parse(input.since)) continue;
        if (input.creationKey !== undefined && claim.creationKey !== input.creationKey) continue;
        if (input.list === 'unconfirmed') {
          if (!isPassed(view, sendAttempt))
            unconfirmed.push(...unconfirmedEntry(view, claim, sendAttempt, now()));
        } else if (input.list === 'decided') decided.push(...decidedEntry(view, claim, sendAttempt));
        else created.push(...createdEntry(view, claim, sendAttempt));
      }
    };
    try {
      if (input.creationKey !== undefined) {
        take(await sendAttemptsOf(journal, { namespace, creationKey: input.creationKey }));
        return { unconfirmed, created, decided, scanned, next: null };
      }
      let next = input.after ?? null;
      do {
        const page = await journal.scan(next, BATCH);
        for (const { sendAttempts } of page.keys) take(sendAttempts);
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
      throw journalUnavailable(error);
    }
  };
}

async function sendAttemptsOf(
  journal: CreateJournal,
  key: { readonly namespace: string; readonly creationKey: string },
): Promise<(SendAttemptView & { readonly sendAttempt: number })[]> {
  const sendAttempts: (SendAttemptView & { readonly sendAttempt: number })[] = [];
  for (let sendAttempt = 0; ; sendAttempt++) {
    const view = await journal.read(key, sendAttempt);
    if (view.claim === null) return sendAttempts;
    sendAttempts.push({ ...view, sendAttempt });
  }
}

function unconfirmedEntry(
  view: SendAttemptView,
  claim: ClaimIntent,
  sendAttempt: number,
  now: number,
): readonly UnconfirmedEntry[] {
  if (!isUndecided(view)) return [];
  const answer = view.outcome?.answer;
  const { evidence } =
    answer?.outcome === 'unconfirmed' ? answer : unconfirmedAfterIntent(claim, sendAttempt);
  const state =
    answer?.outcome === 'results_lost'
      ? 'results_lost'
      : awaitsDecision(view, now)
        ? 'unconfirmed'
        : 'in_flight';
  const { creationKey, operation, estimate, workflowId, runId } = claim;
  return [
    {
      creationKey,
      sendAttempt,
      operation,
      state,
      evidence: state === 'results_lost' ? { ...evidence, cause: 'results_lost' } : evidence,
      estimate,
      workflowId,
      runId,
      fetchable: answer?.outcome === 'results_lost' && answer.sealedLinks !== undefined,
    },
  ];
}

/** Includes a task that was adopted. */
function createdEntry(
  view: SendAttemptView,
  claim: ClaimIntent,
  sendAttempt: number,
): readonly CreatedEntry[] {
  const recorded = view.outcome?.answer;
  const answer = recorded?.outcome === 'created' ? recorded : view.resolution?.answer;
  if (answer?.outcome !== 'created') return [];
  const { taskId, account, model, createdAt } = answer.video;
  const { creationKey, workflowId, runId, activityId } = claim;
  return [{ creationKey, sendAttempt, taskId, account, model, createdAt, workflowId, runId, activityId }];
}

function decidedEntry(
  { resolution }: SendAttemptView,
  { creationKey, nonce: sendId }: ClaimIntent,
  sendAttempt: number,
): readonly DecidedEntry[] {
  if (!resolution) return [];
  const { decision, by, reason, at, answer } = resolution;
  const taskId = answer?.outcome === 'created' ? answer.video.taskId : null;
  return [{ creationKey, sendAttempt, sendId, decision, by, reason, at, taskId }];
}
