/**
 * The rule of the paid path: for each namespace and creation key there is one append-only log, and its entries say what
 * may be sent and what became of it (C4.4a, C4.4c). Senders, reconciliations, decisions and second callers read it alike.
 * The files beside it play it over random schedules and break it in every way; the paid path of today has its rule in src/domain/journal.
 */

/** Written before a byte leaves: from here on a request may be in flight. */
export interface IntentEntry {
  readonly kind: 'intent';
  /** Random; one for each request. */
  readonly nonce: string;
  /** The activity that sends: in all of its tries, also those that an operator's reset hands out again. */
  readonly sender: string;
  /** Of the workflow; a refusal holds for the run that got it. Null outside of a workflow. */
  readonly runId: string | null;
  /** Of the request; null where only another journal had it: any request then counts as the same. */
  readonly fingerprint: string | null;
}

/** What became of an intent: by its sender, or by a reconciliation for a sender that cannot be alive any more. */
export interface AnswerEntry {
  readonly kind: 'answer';
  readonly nonce: string;
  readonly answer: LogAnswer;
}

/** As much of an answer as the rule reads. */
export interface LogAnswer {
  readonly outcome: 'created' | 'completed' | 'unconfirmed' | 'results_lost' | 'rejected' | 'not_sent';
  /** Of a refusal: whether it holds for every later send of its run. @default false */
  readonly permanent?: boolean;
}

/** This sender never sends, in none of its tries: the proof that it has not sent. */
export interface FenceEntry {
  readonly kind: 'fence';
  readonly sender: string;
}

/** The fate of one intent, decided by a person, the task records, or a worker that fetched lost images. */
export interface DecisionEntry {
  readonly kind: 'decision';
  /** The nonce of the send that it is about: the one whose evidence was shown. */
  readonly about: string;
  readonly decision: 'adopt' | 'declareLost' | 'resubmit';
  /** What was adopted. */
  readonly answer?: LogAnswer;
}

/** A send that this journal did not see, because it was replaced or set back: of unknown fate. */
export interface LostEntry {
  readonly kind: 'lost';
  readonly nonce: string;
  readonly runId: string | null;
  readonly fingerprint: string | null;
}

export type LogEntry = IntentEntry | AnswerEntry | FenceEntry | DecisionEntry | LostEntry;

/** A send, as the state of a key holds it. */
type Sent = Pick<IntentEntry, 'nonce' | 'runId' | 'fingerprint'> & { readonly sender?: string };

/** Where a key stands after the entries of its log. */
export interface KeyState {
  /** In flight: an intent without an answer. */
  readonly open: Sent | null;
  /** Sent, of unknown fate: nothing is sent before a decision. */
  readonly unknown: Sent | null;
  /** The purchase, with the send that made it. */
  readonly bought: { readonly answer: LogAnswer; readonly of: Sent | null } | null;
  /** The newest refusal, or a send that was given up. */
  readonly refused: {
    readonly answer: LogAnswer;
    readonly runId: string | null;
    readonly isLost: boolean;
  } | null;
  /** Senders that never send. */
  readonly fenced: readonly string[];
  /** A send of unknown fate was followed by another one: it may be owed besides. */
  readonly isOwed: boolean;
}

export const NO_ENTRIES: KeyState = {
  open: null,
  unknown: null,
  bought: null,
  refused: null,
  fenced: [],
  isOwed: false,
};

/** The state of a key after one more entry. */
export function apply(state: KeyState, entry: LogEntry): KeyState {
  switch (entry.kind) {
    case 'intent':
      return { ...state, open: entry, refused: null };
    case 'fence':
      return { ...state, fenced: [...state.fenced, entry.sender] };
    case 'lost':
      return { ...state, unknown: state.unknown ?? entry };
    case 'answer':
      return answered(state, entry);
    case 'decision':
      return decided(state, entry);
  }
}

function answered(state: KeyState, { nonce, answer }: AnswerEntry): KeyState {
  const of = [state.open, state.unknown].find((sent) => sent?.nonce === nonce) ?? null;
  const rest: KeyState = {
    ...state,
    open: state.open === of ? null : state.open,
    unknown: state.unknown === of ? null : state.unknown,
  };
  switch (answer.outcome) {
    // A purchase that is known counts whenever it arrives, also after a decision.
    case 'created':
    case 'completed':
      return { ...rest, bought: state.bought ?? { answer, of } };
    case 'unconfirmed':
    case 'results_lost':
      return of === null ? state : { ...rest, unknown: of };
    // A refusal that arrives late says nothing about what was decided since.
    case 'rejected':
    case 'not_sent':
      return of === null ? state : { ...rest, refused: { answer, runId: of.runId, isLost: false } };
  }
}

/** Repeated, carried out again by a reset, or made by two people, a decision counts once: while its send is the unknown one. */
function decided(state: KeyState, { about, decision, answer }: DecisionEntry): KeyState {
  const of = state.unknown;
  if (of === null || of.nonce !== about || state.bought !== null) return state;
  const next: KeyState = { ...state, unknown: null };
  switch (decision) {
    case 'adopt':
      return { ...next, bought: { answer: answer ?? { outcome: 'created' }, of } };
    case 'declareLost':
      return { ...next, refused: { answer: { outcome: 'rejected' }, runId: of.runId, isLost: true } };
    case 'resubmit':
      return { ...next, isOwed: true };
  }
}

/** The state of a key by its log. */
export const stateOf = (log: readonly LogEntry[]): KeyState => log.reduce(apply, NO_ENTRIES);

/** Who asks. */
export type LogCaller = Pick<IntentEntry, 'sender' | 'runId' | 'fingerprint'>;

/** What a caller does at the end of a log. */
export type Licence =
  /** May append an intent at this place; whoever loses the place never sends in this try. */
  | { readonly do: 'send' }
  /** Another request holds the key. */
  | { readonly do: 'conflict' }
  /** Another send is in flight. */
  | { readonly do: 'pending'; readonly of: Sent }
  | { readonly do: 'return'; readonly answer: LogAnswer };

/** What a caller with this request may do at the end of a log. */
export function decide(state: KeyState, caller: LogCaller): Licence {
  const held = [state.open, state.unknown, state.bought?.of ?? null];
  if (held.some((sent) => sent !== null && !isSame(sent.fingerprint, caller.fingerprint)))
    return { do: 'conflict' };
  if (state.bought !== null) return { do: 'return', answer: state.bought.answer };
  if (state.open !== null) return { do: 'pending', of: state.open };
  if (state.unknown !== null) return { do: 'return', answer: { outcome: 'unconfirmed' } };
  if (state.fenced.includes(caller.sender)) return { do: 'return', answer: { outcome: 'not_sent' } };
  const { refused } = state;
  const isRefused = refused?.isLost === true || (refused?.runId === caller.runId && refused.answer.permanent);
  return refused !== null && isRefused === true ? { do: 'return', answer: refused.answer } : { do: 'send' };
}

const isSame = (one: string | null, other: string | null): boolean =>
  one === null || other === null || one === other;
