import { randomUUID } from 'node:crypto';
import { type CreateJournal, type JournalKey, type ClaimIntent } from '../domain/journal';
import { type CreatedVideo, evidence, type UnconfirmedCall } from '../domain/paid-call';
import { type SenderHeartbeat } from '../domain/journal-proof';
import { claimSendAttempt, recordOutcome } from './send-attempts';
import { journalUnavailable } from './failures';
import { factsIn, type IntentFacts } from './intent-of';
import { type Caller } from './paid-context';

/** What is known of a call whose intent stands in another journal, or stood in this one before it was set back. */
export type LostIntent = Pick<ClaimIntent, 'operation' | 'fingerprint'> &
  IntentFacts & {
    readonly lastHeartbeat: SenderHeartbeat | null;
    /** Why nobody knows what it came to. */
    readonly cause: string;
    readonly mayBeOwed?: true;
    /** What it came to, where the history of its workflow says so: then it is recorded as it was. */
    readonly created?: CreatedVideo;
  };

/**
 * The journal of a send cannot be asked any more: whether it was accepted nobody can tell. This journal keeps that from now
 * on, as an intent of unknown fate in the first send attempt that is free, so that nothing is sent under the key before a person
 * has decided.
 */
export async function recordPlaceholder(
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
  const { operation, fingerprint, lastHeartbeat, cause, mayBeOwed, created } = lost;
  const facts = factsIn(lost);
  const at = new Date().toISOString();
  const claim: ClaimIntent = {
    v: 1,
    kind: 'intent',
    nonce: lastHeartbeat?.intent ?? randomUUID(),
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
    sendAttempt: free,
    sent: true,
    account: facts.account,
    estimate: null,
    evidence: evidence(cause, facts),
    ...(mayBeOwed === true && { mayBeOwed }),
  });
  const recordIn = (free: number) =>
    created === undefined ? answerIn(free) : { ...created, sendAttempt: free };
  // From the first one: no send attempt stands alone.
  for (let free = 0; ; free++) {
    const claimed = await claimSendAttempt(journal, key, free, claim).catch(() => 'unsure' as const);
    if (claimed === 'lost') continue;
    const { recorded } =
      claimed === 'won'
        ? await recordOutcome(journal, key, claim.nonce, recordIn(free))
        : { recorded: false };
    if (!recorded) throw journalUnavailable();
    return answerIn(free);
  }
}
