import { randomUUID } from 'node:crypto';
import { type CreateJournal, type JournalKey, type SlotIntent } from '../domain/journal';
import { type CreatedVideo, evidence, type UnconfirmedCall } from '../domain/paid-call';
import { type SenderWord } from '../domain/journal-proof';
import { claimEpoch, recordOutcome } from './journal-epochs';
import { journalUnavailable } from './failures';
import { factsIn, type IntentFacts } from './intent-of';
import { type Caller } from './paid-context';

/** What is known of a call whose intent stands in another journal, or stood in this one before it was set back. */
export type LostIntent = Pick<SlotIntent, 'operation' | 'fingerprint'> &
  IntentFacts & {
    readonly heard: SenderWord | null;
    /** Why nobody knows what it came to. */
    readonly cause: string;
    readonly mayBeOwed?: true;
    /** What it came to, where the history of its workflow says so: then it is recorded as it was. */
    readonly created?: CreatedVideo;
  };

/**
 * The journal of a send cannot be asked any more: whether it was accepted nobody can tell. This journal keeps that from now
 * on, as an intent of unknown fate in the first epoch that is free, so that nothing is sent under the key before a person
 * has decided.
 */
export async function standIn(
  journal: CreateJournal,
  key: JournalKey,
  {
    workflowId,
    runId,
    activityId,
    attemptAt,
  }: Pick<Caller, 'workflowId' | 'runId' | 'activityId' | 'attemptAt'>,
  lost: LostIntent,
): Promise<UnconfirmedCall> {
  const { operation, fingerprint, heard, cause, mayBeOwed, created } = lost;
  const facts = factsIn(lost);
  const at = new Date().toISOString();
  const slot: SlotIntent = {
    v: 1,
    kind: 'intent',
    nonce: heard?.intent ?? randomUUID(),
    ...key,
    workflowId,
    runId,
    activityId,
    attemptAt,
    operation,
    ...facts,
    fingerprint,
    bodyHash: '',
    estimate: null,
    at,
    sendWindowEnd: at,
  };
  const answerIn = (free: number): UnconfirmedCall => ({
    outcome: 'unconfirmed',
    epoch: free,
    sent: true,
    account: facts.account,
    estimate: null,
    evidence: evidence(cause, facts),
    ...(mayBeOwed === true && { mayBeOwed }),
  });
  const recordIn = (free: number) => (created === undefined ? answerIn(free) : { ...created, epoch: free });
  // From the first one: no epoch stands alone.
  for (let free = 0; ; free++) {
    const claim = await claimEpoch(journal, key, free, slot).catch(() => 'unsure' as const);
    if (claim === 'lost') continue;
    const { recorded } =
      claim === 'won' ? await recordOutcome(journal, key, slot.nonce, recordIn(free)) : { recorded: false };
    if (!recorded) throw journalUnavailable();
    return answerIn(free);
  }
}
