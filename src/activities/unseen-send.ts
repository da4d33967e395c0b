import { type CreateJournal } from '../domain/journal';
import {
  type IntentEntry,
  type JournalKey,
  type LostEntry,
  type RecordedAnswer,
} from '../domain/log-entries';
import { causeOfUnseen, PERHAPS, type SenderTrace } from '../domain/sender-trace';
import { appendOrRetry, type KeyLog, openLog } from './key-log';
import { type Caller, type PaidDeps } from './paid-context';
import { recordedAnswer } from './paid-answers';
import { type Sender } from './sender';

/** Whether a heartbeat named an intent that this log does not have: it was written to another journal, or is lost from this one. */
export function isUnseen(
  { entries }: KeyLog,
  { sender, announced }: Omit<SenderTrace, 'scheduledAt'>,
): boolean {
  if (announced === null) return false;
  const intents = entries.filter((entry): entry is IntentEntry => entry.kind === 'intent');
  if (intents.some(({ nonce }) => nonce === announced)) return false;
  // A careful heartbeat may have covered the one that named an intent: where there is one, it is that.
  return !(announced.startsWith(PERHAPS) && intents.some((intent) => intent.sender === sender));
}

/**
 * Whether a worker with an earlier journal may have had the activity: it was scheduled before every worker knew of
 * the binding of this one, which then proves nothing about it.
 */
export function mayHaveUsedAnother(scheduledAt: string, boundSince: string): boolean {
  // A time that cannot be read proves nothing.
  return !(Date.parse(scheduledAt) >= Date.parse(boundSince));
}

/** What is known of a send that no log has. */
export type UnseenSend = Omit<LostEntry, 'v' | 'kind' | 'at' | 'nonce' | 'cause' | keyof JournalKey> &
  Pick<SenderTrace, 'announced'>;

/** A send that no heartbeat named is known by its sender. */
const nameOf = ({ sender, announced }: Pick<SenderTrace, 'sender' | 'announced'>): string =>
  announced ?? sender;

/** Whether the send was noted before, and a person has decided about it. */
export function isDecided({ state }: KeyLog, trace: Pick<SenderTrace, 'sender' | 'announced'>): boolean {
  return state.sends.some(({ sent, decision }) => sent.nonce === nameOf(trace) && decision !== null);
}

/**
 * Notes a send that this journal did not see, so that nothing is sent under the key before a person has decided about it:
 * also beside another one of unknown fate, for a decision is about one send.
 */
export async function noteUnseen(
  journal: CreateJournal,
  log: KeyLog,
  { announced, ...sent }: UnseenSend,
): Promise<{ readonly log: KeyLog; readonly nonce: string; readonly answer: RecordedAnswer }> {
  const { sends } = log.state;
  const name = nameOf({ sender: sent.sender, announced });
  const before = sends.findLastIndex((send) => send.sent.nonce === name);
  const isNoted = before !== -1 && sends[before]?.decision === null;
  // A sender that no heartbeat named may have sent once more since the decision about its first send.
  const nonce = before === -1 || isNoted ? name : `${name}#${sends.length}`;
  const cause = causeOfUnseen(announced);
  const at = new Date().toISOString();
  const noted = isNoted
    ? log
    : await appendOrRetry(journal, log, { v: 1, kind: 'lost', nonce, ...log.key, ...sent, cause, at });
  return { log: noted, nonce, answer: recordedAnswer(noted.state, isNoted ? before : sends.length) };
}

/** A call whose request could not be read or prepared. */
export interface KnownCall {
  readonly creationKey: string;
  readonly sender: Sender;
  readonly sameKey?: string | undefined;
  readonly recordedSince?: string | undefined;
}

/** Whether no earlier try of a call, nor a call before it, can have sent. */
export function isFirstTry(
  { isLater }: Pick<Caller, 'isLater'>,
  { sender: { announced }, sameKey, recordedSince }: KnownCall,
): boolean {
  return !isLater && announced === null && sameKey === undefined && recordedSince === undefined;
}

/**
 * Whether nothing that may have been accepted was sent under the key of a call, in this journal or in another one.
 * @throws when the journal cannot be read: what it may hold is never called unsent (C4.4c)
 */
export async function isUnsent(
  { journal }: Pick<PaidDeps, 'journal'>,
  who: Caller,
  call: KnownCall,
): Promise<boolean> {
  const { creationKey, sender, sameKey, recordedSince } = call;
  const { standing, announced } = sender;
  if (!standing.bound) return isFirstTry(who, call);
  const log = await openLog(journal, { namespace: who.namespace, creationKey });
  const { open, unknown, bought } = log.state;
  if (open !== null || unknown !== null || bought !== null) return false;
  const since = recordedSince ?? who.scheduledAt;
  return (
    isFirstTry(who, call) ||
    (!mayHaveUsedAnother(since, standing.boundSince) &&
      !isUnseen(log, { sender: who.sender, announced: announced ?? sameKey ?? null }))
  );
}
