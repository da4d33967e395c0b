import { randomUUID } from 'node:crypto';
import { type CreateJournal, type JournalKey, type ClaimIntent } from '../domain/journal';
import { type CreatedVideo, evidence, type UnconfirmedCall } from '../domain/paid-call';
import { type SenderHeartbeat } from '../domain/journal-proof';
import { claimSendAttempt, recordOutcome } from './send-attempts';
import { journalUnavailable, UNSURE } from './journal-failures';
import { factsIn, type IntentFacts } from './intent-of';
import { type Caller } from './paid-context';

/** What is known of a call whose intent is in another journal, or was in this one before it was set back. */
export type LostIntent = Pick<ClaimIntent, 'operation' | 'fingerprint'> &
  IntentFacts & {
    readonly lastHeartbeat: SenderHeartbeat | null;
    /** Why its outcome is unknown. */
    readonly cause: string;
    readonly mayBeOwed?: true;
    /** The created video, where the history of its workflow contains it: it is then recorded as the outcome. */
    readonly created?: CreatedVideo;
  };

/**
 * Records a send whose journal is no longer available, so that it is unknown whether it was accepted: as an intent of
 * unknown fate in the first free send attempt. Nothing is sent under the key before a person has decided.
 */
export async function recordPlaceholder(
  journal: CreateJournal,
  key: JournalKey,
  who: Pick<Caller, 'workflowId' | 'runId' | 'ancestors' | 'activityId' | 'attemptAt'>,
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
    workflowId: who.workflowId,
    runId: who.runId,
    ...(who.ancestors.length > 0 && { ancestors: who.ancestors }),
    activityId: who.activityId,
    attemptAt: who.attemptAt,
    operation,
    ...facts,
    fingerprint,
    bodyHash: '',
    idempotencyKey: '',
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
    evidence: evidence(cause, { sendId: claim.nonce, ...facts }),
    ...(mayBeOwed === true && { mayBeOwed }),
  });
  const recordIn = (free: number) =>
    created === undefined ? answerIn(free) : { ...created, sendAttempt: free };
  // From the first one, so that there is no gap before a claim.
  for (let free = 0; ; free++) {
    const claimed = await claimSendAttempt(journal, key, free, claim).catch((error: unknown) => {
      throw journalUnavailable(error);
    });
    if (claimed === 'lost') continue;
    if (claimed === 'unsure') throw journalUnavailable(UNSURE);
    const { recorded, fault } = await recordOutcome(journal, key, claim.nonce, recordIn(free));
    if (!recorded) throw journalUnavailable(fault);
    return answerIn(free);
  }
}
