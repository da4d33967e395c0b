/**
 * The rule of the paid path (failure model: The log). Each namespace and creation key has one append-only log, whose
 * entries record the sends and their outcomes. Senders, reconciliations, decisions and second callers all interpret the
 * log by this rule alone. It is pure: test/proof/paid-log runs it on random schedules and checks that every mutation of
 * it fails.
 */
import { notOfTheFuture } from './clocks';
import { isTemporary } from './failure-table';
import {
  billInReply,
  isOpenAnswer,
  isPaid,
  type LogEntry,
  purchaseOf,
  type RecordedAnswer,
  type Send,
} from './log-entries';

/** A key's state, derived from its log. Numbers are indexes of sends. */
export interface KeyState {
  /** Every request that was or may have been sent, in the order of the log. */
  readonly sends: readonly Send[];
  /** The send in flight: an intent without an answer. */
  readonly open: number | null;
  /**
   * The first undecided send that has an unknown outcome, or whose purchased results are lost. Nothing is sent before a
   * decision.
   */
  readonly unknown: number | null;
  readonly bought: number | null;
  /** The newest send, if it was refused, not sent, or declared lost. */
  readonly refused: number | null;
  /** Senders that must not send anything in any of their attempts. */
  readonly fenced: readonly string[];
}

export const NO_ENTRIES: KeyState = {
  sends: [],
  open: null,
  unknown: null,
  bought: null,
  refused: null,
  fenced: [],
};

export const stateOf = (log: readonly LogEntry[]): KeyState => log.reduce(apply, NO_ENTRIES);

export function apply(state: KeyState, entry: LogEntry): KeyState {
  const { sends } = state;
  switch (entry.kind) {
    case 'intent':
      return { ...state, sends: [...sends, unanswered(entry)], open: sends.length, refused: null };
    case 'lost':
      return withUnknown({ ...state, sends: [...sends, unanswered(entry)], refused: null });
    case 'fence':
      return { ...state, fenced: [...state.fenced, entry.sender] };
    case 'answer':
      return answered(state, indexOfSend(state, entry.nonce), entry);
    case 'decision':
      return decided(state, indexOfSend(state, entry.about), entry);
    case 'bill':
      return { ...state, sends: changed(state, indexOfSend(state, entry.about), { bill: entry }) };
  }
}

type Entry<Kind extends LogEntry['kind']> = Extract<LogEntry, { kind: Kind }>;

const unanswered = (sent: Send['sent']): Send => ({ sent, answer: null, decision: null, bill: null });

/** Returns the index of the send with this nonce, or -1 if the log has none. */
export const indexOfSend = ({ sends }: KeyState, nonce: string): number =>
  sends.findIndex(({ sent }) => sent.nonce === nonce);

function changed({ sends }: KeyState, at: number, change: Partial<Send>): readonly Send[] {
  return sends.map((send, index) => (index === at ? { ...send, ...change } : send));
}

/**
 * Sets `unknown`. Several sends can have unknown outcomes at the same time; they are decided one by one, oldest first.
 */
function withUnknown(state: KeyState): KeyState {
  const unknown = state.sends.findIndex(isUnknown);
  return { ...state, unknown: unknown < 0 ? null : unknown };
}

/** Whether a send has an unknown outcome or lost results, and nobody has decided about it. */
export function isUnknown({ sent, answer, decision }: Send): boolean {
  if (decision !== null) return false;
  return answer === null ? sent.kind === 'lost' : isOpenAnswer(answer.answer);
}

function answered(state: KeyState, at: number, answer: Entry<'answer'>): KeyState {
  const send = state.sends[at];
  if (send === undefined) return state;
  const next = withUnknown({
    ...state,
    // An entry about the bill takes precedence, whatever the order.
    sends: changed(state, at, { answer, bill: send.bill ?? billInReply(answer) }),
    open: state.open === at ? null : state.open,
  });
  // A known purchase takes effect whenever it arrives, even after a decision. If there are two purchases, the first one
  // is used.
  if (isPaid(answer.answer))
    return isPaid(send.answer?.answer) ? state : { ...next, bought: state.bought ?? at };
  // Any other late answer does not affect later decisions and sends.
  const isRepeated = answer.repeatedUntil !== undefined;
  if (state.open !== at && !(isUnknown(send) && (isRepeated || !mayBeRepeated(send)))) return state;
  return isOpenAnswer(answer.answer) ? next : { ...next, refused: at };
}

/**
 * Whether a send may be repeated under its idempotency key once its outcome is recorded as unknown. An answer that the
 * first sender receives later is then not conclusive.
 */
function mayBeRepeated({ sent }: Send): boolean {
  return sent.kind === 'intent' && sent.idempotency !== undefined;
}

/**
 * Applies a decision. It takes effect only while its send has an unknown outcome, and only once, even if it is
 * repeated, reapplied by a reset, or made by two people.
 */
function decided(state: KeyState, at: number, decision: Entry<'decision'>): KeyState {
  const send = state.sends[at];
  if (send === undefined || !isUnknown(send)) return state;
  const next = withUnknown({ ...state, sends: changed(state, at, { decision }) });
  if (decision.decision === 'resubmit') return next;
  return decision.decision === 'adopt' ? { ...next, bought: state.bought ?? at } : { ...next, refused: at };
}

export interface LogCaller {
  /** Identifies the calling activity in all of its attempts. */
  readonly sender: string;
  readonly runId: string | null;
  /** Null if it cannot be computed. Any request is then treated as the same request. */
  readonly fingerprint: string | null;
  /** When this attempt was scheduled, ISO 8601. */
  readonly attemptAt: string;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  /** Whether the activity has its own retry policy, as image activities do. */
  readonly retries?: boolean | undefined;
  /** Whether the activity also waits, by its attempts, until a person has fixed the cause of a standing refusal. */
  readonly waitsItself?: boolean | undefined;
  /** Whether a person wants to resend a request that was refused in another run. */
  readonly again?: boolean | undefined;
}

/** What a caller must do after reading a log. `at` is the index of the deciding send. */
export type Licence =
  /**
   * Append an intent after the last entry read. If another writer appends first, the caller does not send in this
   * attempt.
   */
  | { readonly do: 'send' }
  /** The key belongs to another request. */
  | { readonly do: 'conflict'; readonly at: number }
  | { readonly do: 'return'; readonly at: number }
  /** Another send is in flight. */
  | { readonly do: 'pending'; readonly at: number }
  | { readonly do: 'fenced' };

export function decide(state: KeyState, caller: LogCaller): Licence {
  const { open, unknown, bought, refused } = state;
  const holder = [open, unknown, bought, heldByLast(state, caller)].find((at) => isOther(state, at, caller));
  if (typeof holder === 'number') {
    const own = ownSend(state, caller);
    return own === -1 ? { do: 'conflict', at: holder } : { do: 'return', at: own };
  }
  if (bought !== null) return { do: 'return', at: bought };
  if (open !== null) return { do: 'pending', at: open };
  if (unknown !== null) return { do: 'return', at: unknown };
  // A fenced sender also receives a "declared lost" answer, just as it receives a purchase.
  const isDeclaredLost = refused !== null && state.sends[refused]?.decision !== null;
  if (!isDeclaredLost && state.fenced.includes(caller.sender)) return { do: 'fenced' };
  if (refused !== null && staysRefused(state.sends[refused] as Send, caller))
    return { do: 'return', at: refused };
  return { do: 'send' };
}

function isOther({ sends }: KeyState, at: number | null, { fingerprint }: LogCaller): boolean {
  return at !== null && !isSameRequest((sends[at] as Send).sent.fingerprint, fingerprint);
}

/**
 * Returns the index of a send that may be this caller's own and that may have been accepted, or -1. Reporting a
 * conflict would hide this send, for example if a restored journal has lost the intent: the caller would then buy again
 * under another key.
 */
function ownSend({ sends }: KeyState, { fingerprint }: LogCaller): number {
  return sends.findIndex(
    (send) =>
      (isUnknown(send) || purchaseOf(send) !== undefined) &&
      isSameRequest(send.sent.fingerprint, fingerprint),
  );
}

/** An unknown fingerprint matches any request. */
const isSameRequest = (one: string | null, other: string | null): boolean =>
  one === null || other === null || one === other;

/**
 * Returns the index of the last send if the key still belongs to its request. A decision, or a pause that the service
 * requested, applies only to its own request and does not free the key for another one.
 */
function heldByLast({ sends }: KeyState, { now }: LogCaller): number | null {
  const last = sends.at(-1);
  if (last === undefined) return null;
  const isHeld = last.decision !== null || (last.answer !== null && isPaused(last.answer, now));
  return isHeld ? sends.length - 1 : null;
}

/** Whether a caller receives the recorded refusal instead of sending the same request again. */
function staysRefused({ sent, answer, decision }: Send, caller: LogCaller): boolean {
  // Declared lost: nothing more is sent under this key.
  if (decision !== null || answer === null) return true;
  if (isPaused(answer, caller.now)) return true;
  // A changed request is sent despite any refusal.
  if (!isSameRequest(sent.fingerprint, caller.fingerprint)) return false;
  const refusal = answer.answer;
  const mayEnd = refusal.outcome !== 'rejected' || isTemporary(refusal.reason);
  // A person may have fixed the cause of an account-wide or model-wide refusal while the call waited.
  const isStanding = refusal.outcome === 'rejected' && refusal.standing !== undefined;
  if (sent.sender === caller.sender) {
    // An attempt that was suspended must not override a later attempt's answer.
    const isOvertaken = Date.parse(sent.attemptAt) > Date.parse(caller.attemptAt);
    return caller.retries !== true || isOvertaken || !(mayEnd || (isStanding && caller.waitsItself === true));
  }
  if (sent.runId !== caller.runId) return !mayEnd && caller.again !== true;
  return !mayEnd && !isStanding;
}

/**
 * Returns the index of the send that has a request's outcome: the key's purchase if it is for this request, or else the
 * request's own send.
 */
export function answeringSend({ sends, bought }: KeyState, own: number): number {
  if (bought === null) return own;
  const [theirs = null, ours = null] = [bought, own].map((at) => sends[at]?.sent.fingerprint);
  return isSameRequest(theirs, ours) ? bought : own;
}

/** Whether the service asked for no calls until a time that has not passed yet. */
function isPaused(answer: Entry<'answer'>, now: number): boolean {
  const current: RecordedAnswer = notOfTheFuture(answer, now).answer;
  const notBefore =
    current.outcome === 'refused_for_now' || current.outcome === 'rejected' ? current.notBefore : null;
  return typeof notBefore === 'string' && Date.parse(notBefore) > now;
}
