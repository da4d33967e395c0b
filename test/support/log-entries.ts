import {
  type AnswerEntry,
  type BillEntry,
  type DecisionEntry,
  type FenceEntry,
  type IntentEntry,
  type JournalKey,
  type LostEntry,
} from '../../src/domain/log-entries';
import { answers } from '../domain/create-answers';

/** The key of the entries that name no other one. */
export const LOG_KEY: JournalKey = { namespace: 'default', creationKey: 'order-1' };

const AT = new Date(0).toISOString();

const SENT = {
  v: 1,
  ...LOG_KEY,
  nonce: 'ours',
  sender: 'run/1',
  operation: 'create_video',
  workflowId: 'wf',
  runId: 'run',
  activityId: '1',
  attemptAt: AT,
  fingerprint: 'f'.repeat(64),
  account: 'default@00000000',
  model: 'm',
  durationSeconds: 2,
  resolution: null,
  referenceMode: 'none',
  at: AT,
} as const;

/** An intent as a sender of `media.createVideo` writes it before its send. */
export function intentEntry(own: Partial<IntentEntry> = {}): IntentEntry {
  return {
    ...SENT,
    kind: 'intent',
    bodyHash: 'b'.repeat(64),
    estimate: null,
    idempotencyKey: 'k'.repeat(64),
    sendWindowEnd: AT,
    ...own,
  };
}

/** A send that this journal did not see. */
export function lostEntry(own: Partial<LostEntry> = {}): LostEntry {
  return { ...SENT, kind: 'lost', cause: 'journal_changed', ...own };
}

/** What became of the send `ours`: it was accepted, unless another answer is given. */
export function answerEntry(
  answer: AnswerEntry['answer'] = answers.created(0),
  own: Partial<Omit<AnswerEntry, 'answer'>> = {},
): AnswerEntry {
  return { v: 1, kind: 'answer', nonce: 'ours', at: AT, answer, ...own };
}

/** The sender of {@link intentEntry} never sends. */
export function fenceEntry(own: Partial<FenceEntry> = {}): FenceEntry {
  const { v, namespace, sender, workflowId, activityId, at } = SENT;
  return { v, kind: 'fence', namespace, sender, workflowId, activityId, at, ...own };
}

/** A person lets the send `ours` be made once more. */
export function decisionEntry(own: Partial<DecisionEntry> = {}): DecisionEntry {
  return {
    v: 1,
    kind: 'decision',
    about: 'ours',
    decision: 'resubmit',
    by: 'ada',
    reason: 'r',
    at: AT,
    answer: null,
    ...own,
  };
}

/** An invoice line for the send `ours`. */
export function billEntry(own: Partial<BillEntry> = {}): BillEntry {
  return {
    v: 1,
    kind: 'bill',
    about: 'ours',
    microUnits: 350_000,
    currency: 'USD',
    source: 'invoice',
    reference: 'invoice 2026-11',
    by: 'ada',
    reason: 'r',
    at: AT,
    ...own,
  };
}
