import { notOfTheFuture } from '../domain/answer-times';
import {
  type IntentEntry,
  type LostEntry,
  owesBefore,
  owesBesides,
  purchaseOf,
  type RecordedAnswer,
  type Send,
} from '../domain/log-entries';
import { type CallFacts, type CreatedVideo, evidence, type UnconfirmedCall } from '../domain/paid-call';
import { DEFAULT_POLLING, type PollingProfile } from '../domain/polling-profile';
import { type KeyState } from '../domain/paid-log';

/** The facts of a request that its log keeps (C4.4b): no text of it. */
export type SentFacts = CallFacts & Pick<IntentEntry, 'account'>;

export function factsIn({
  account,
  model,
  durationSeconds,
  resolution,
  referenceMode,
}: SentFacts): SentFacts {
  return { account, model, durationSeconds, resolution, referenceMode };
}

/**
 * The recorded answer of a send: what was bought, what was decided, what its sender said, or that its fate is unknown.
 * @param now milliseconds since the Unix epoch, for an answer that names a time
 */
export function recordedAnswer(state: KeyState, at: number, now = Infinity): RecordedAnswer {
  const send = state.sends[at] as Send;
  const answer = send.answer && notOfTheFuture(send.answer, now).answer;
  const told = purchaseOf(send) ?? send.decision?.answer ?? answer ?? unconfirmedBySend(send, at);
  return { ...told, sendAttempt: at, ...(owesBesides(state, at) && { mayBeOwed: true as const }) };
}

/** What every answer about the next send of a key says, before anything is known of it. */
export function nextSend(state: KeyState): { readonly sendAttempt: number; readonly mayBeOwed?: true } {
  return { sendAttempt: state.sends.length, ...(owesBefore(state) && { mayBeOwed: true as const }) };
}

/** A send without an answer whose sender cannot be alive any more: its own entry is the evidence. */
export function unconfirmedBySend({ sent }: Pick<Send, 'sent'>, at: number, cause?: string): UnconfirmedCall {
  const facts = factsIn(sent);
  const common = { outcome: 'unconfirmed', sendAttempt: at, sent: true, account: sent.account } as const;
  if (sent.kind === 'lost') {
    const known = evidence(cause ?? sent.cause, { sendId: sent.nonce, ...facts });
    return { ...common, estimate: null, evidence: known };
  }
  const { nonce: sendId, at: intentAt, sendWindowEnd, bodyHash, estimate } = sent;
  const known = { sendId, intentAt, sendWindowEnd, bodyHash, ...facts };
  return { ...common, estimate, evidence: evidence(cause ?? 'no_outcome_recorded', known) };
}

/** The answer of a create that made this task, with the facts that its log keeps (C4.4b). */
export function adoptedAnswer(
  sent: IntentEntry | LostEntry,
  sendAttempt: number,
  taskId: string,
  status: string,
  polling: PollingProfile = DEFAULT_POLLING,
): CreatedVideo {
  const estimate = sent.kind === 'intent' ? sent.estimate : null;
  return {
    outcome: 'created',
    sendAttempt,
    sent: true,
    account: sent.account,
    estimate,
    status,
    warnings: ['The task was adopted: the reply of its create was never read.'],
    video: { taskId, ...factsIn(sent), polling, createdAt: sent.at, source: 'journal' },
  };
}
