import { type LogEntry } from '../../../src/domain/log-entries';
import { type CreateVideoAnswer } from '../../../src/domain/paid-call';
import { answers } from '../../domain/create-answers';
import { fenceEntry } from '../../support/log-entries';

/** Rules of create-once; a walk with one of them switched off has to go wrong. */
export interface Rules {
  /** Whether "nothing was sent" is made true for ever before it counts as "not sent". */
  readonly fence: boolean;
  /** Whether a fence is written only at the place up to which the log was read. */
  readonly fenceLooks: boolean;
  /** Whether who loses the place that it has read up to sends nothing. */
  readonly placeIsLicence: boolean;
  /** Whether there is a journal: the log is read, and an intent written, before a send. */
  readonly journal: boolean;
  /** Whether an intent without an answer may hide a send. */
  readonly pendingIsUnknown: boolean;
  /** Whether an intent that may not be durable is given up. */
  readonly unsureIsUnsent: boolean;
  /** Whether a reconciliation looks for a send of its own create before all else. */
  readonly ownSends: boolean;
  /** Whether a reconciliation compares the requests, where its create has. */
  readonly comparesAgain: boolean;
  /** Whether a reconciliation compares its own send with what was bought since. */
  readonly comparesPurchases: boolean;
  /** Whether a reconciliation tells of another run's send only after the create has compared the requests. */
  readonly leavesForeign: boolean;
  /** Whether a reconciliation that ends at another run's send shuts out its own lost create. */
  readonly shutsOut: boolean;
  /** Whether a purchase counts whenever its answer arrives. */
  readonly latePurchases: boolean;
  /** Whether only a journal that has the intent that was announced proves "not sent". */
  readonly ownJournal: boolean;
  /** Whether a journal proves nothing about a create that was scheduled before it was bound. */
  readonly boundBefore: boolean;
  /** Whether the server has heard of an intent before its request leaves. */
  readonly announces: boolean;
  /** Whether what was lost with a journal stands in the next one as an unknown fate. */
  readonly standsIn: boolean;
  /** Whether a decision is about one send, and leaves every other one of unknown fate to its own. */
  readonly eachDecided: boolean;
}

export const SOUND: Rules = {
  fence: true,
  fenceLooks: true,
  placeIsLicence: true,
  journal: true,
  pendingIsUnknown: true,
  unsureIsUnsent: true,
  ownSends: true,
  comparesAgain: true,
  comparesPurchases: true,
  leavesForeign: true,
  shutsOut: true,
  latePurchases: true,
  ownJournal: true,
  boundBefore: true,
  announces: true,
  standsIn: true,
  eachDecided: true,
};

/** How large the walked space is. */
export interface Bounds {
  /** Most intents of one log. */
  readonly sends: number;
  /** Request of each caller: callers with equal numbers ask for the same. */
  readonly requests: readonly number[];
  /** Callers whose person wants a refused request sent again. */
  readonly again?: readonly number[];
  /** Create activities of each caller. */
  readonly creates: readonly number[];
  /** Decisions of people. */
  readonly decisions: number;
  /** Intents that are written after their writer was told of an error. */
  readonly lateWrites: number;
  /** Journals that are lost, or set back to a copy: a person binds the next one once no worker uses the last one any more. */
  readonly losses: number;
  /**
   * A journal may be set back without anybody who notices: it has its id, and no queue is bound anew. Then the server has to
   * know of a send: with its heartbeat and its entry nothing would be left of it (assumption A1).
   */
  readonly unnoticed?: boolean;
}

export type Fate = 'created' | 'unconfirmed' | 'refused' | 'credentials' | 'invalid' | 'not_sent';
/** What a send may come to. */
export const FATES: readonly { readonly fate: Fate; readonly accepted: boolean }[] = [
  { fate: 'created', accepted: true },
  { fate: 'unconfirmed', accepted: true },
  { fate: 'unconfirmed', accepted: false },
  { fate: 'refused', accepted: false },
  { fate: 'credentials', accepted: false },
  { fate: 'invalid', accepted: false },
  { fate: 'not_sent', accepted: false },
];

/** A create activity: the number of its caller, and which one of it. Its intent, of which it has one, has the same name. */
export type Activity = `${number}.${number}`;

export type Entry =
  | { readonly kind: 'intent' | 'fence'; readonly of: Activity }
  | { readonly kind: 'lost'; readonly of: Activity; readonly nonce: string }
  | { readonly kind: 'answer'; readonly nonce: string; readonly fate: Fate }
  | {
      readonly kind: 'decision';
      readonly nonce: string;
      readonly decision: 'adopt' | 'declareLost' | 'resubmit';
    };

export interface Sender {
  readonly of: Activity;
  /** Its workflow has given it up, or it is the one that the workflow waits for. */
  zombie: boolean;
  step: 'read' | 'append' | 'announce' | 'send' | 'record' | 'late write';
  /** How far it has read the log. */
  place: number;
  fate: Fate | null;
  /** Its process has ended; what it sent is still on the way. */
  lost: boolean;
}

export interface Caller {
  phase: 'creating' | 'reconcile' | 'writing' | 'done';
  /** What its reconciliation is about to write, how far it has read the log, and what it says after a fence. */
  writes: {
    readonly entry: Entry;
    readonly place: number;
    readonly cause?: string;
  } | null;
  sameRequest: boolean;
  creates: number;
  end: string | null;
  /** The intent that the server heard of: of its create, or of the one that was in its way. */
  heard: string | null;
  /** What its create could not record of its send. */
  unrecorded: Fate | null;
  /** Its create was scheduled before the journal of now was bound. */
  early: boolean;
  /** Its history names a task. */
  hasTask: boolean;
}

export interface World {
  /** Number of the journal of now. */
  journal: number;
  losses: number;
  /** A copy of the journal, kept elsewhere. */
  backup: readonly Entry[] | null;
  log: readonly Entry[];
  senders: Sender[];
  callers: Caller[];
  accepted: number;
  authorised: number;
  decisions: number;
  lateWrites: number;
  /** Activities of which a send was accepted, as bits. */
  acceptedOf: number;
  /** Activities that were called unsent, as bits. */
  unsentOf: number;
  /** Somebody was given the result of another request. */
  mixedUp: boolean;
  /** Somebody was told "unconfirmed", or that it was given up, while the journal had the task. */
  lostId: boolean;
}

/** Time before which a refusal of the model forbids a send; readers' clocks say anything. */
export const NOT_BEFORE = 1000;

export function firstWorld({ requests }: Bounds): World {
  return {
    journal: 0,
    losses: 0,
    backup: null,
    log: [],
    senders: requests.map((_, caller) => newSender(activityOf(caller, 0))),
    callers: requests.map(() => ({
      phase: 'creating',
      writes: null,
      sameRequest: false,
      creates: 1,
      end: null,
      heard: null,
      unrecorded: null,
      early: false,
      hasTask: false,
    })),
    accepted: 0,
    authorised: 0,
    decisions: 0,
    lateWrites: 0,
    acceptedOf: 0,
    unsentOf: 0,
    mixedUp: false,
    lostId: false,
  };
}

export const activityOf = (caller: number, create: number): Activity => `${caller}.${create}`;
export const callerOf = (activity: string): number => Number(activity.split('.')[0]);

/** Creates of one caller that a bit mask has room for. */
const MOST_CREATES = 4;
export function bitOf(activity: Activity): number {
  const [caller = 0, create = 0] = activity.split('.').map(Number);
  return 1 << (caller * MOST_CREATES + create);
}
export const bitsOf = (caller: number): number => ((1 << MOST_CREATES) - 1) << (caller * MOST_CREATES);

export function newSender(of: Activity): Sender {
  return { of, zombie: false, step: 'read', place: 0, fate: null, lost: false };
}

export function copyOf(world: World): World {
  return {
    ...world,
    senders: world.senders.map((sender) => ({ ...sender })),
    callers: world.callers.map((caller) => ({ ...caller })),
  };
}

export const runOf = (caller: number): string => `run-${caller}`;
export const requestOf = (caller: number, { requests }: Bounds): string => `request-${requests[caller]}`;

const AT = new Date(0).toISOString();

/** An entry as the real rule reads it; only what it looks at. */
export function entryOf(entry: Entry, bounds: Bounds): LogEntry {
  switch (entry.kind) {
    case 'intent':
    case 'lost': {
      const caller = callerOf(entry.of);
      const sent = { sender: entry.of, runId: runOf(caller), at: AT, attemptAt: AT };
      const nonce = entry.kind === 'lost' ? entry.nonce : entry.of;
      const fingerprint = entry.kind === 'lost' ? null : requestOf(caller, bounds);
      return { v: 1, kind: entry.kind, nonce, fingerprint, ...sent } as LogEntry;
    }
    case 'fence':
      return fenceEntry({ sender: entry.of, at: AT });
    case 'answer':
      return { v: 1, kind: 'answer', nonce: entry.nonce, at: AT, answer: answerOf(entry.fate, 0) };
    case 'decision': {
      const { nonce: about, decision } = entry;
      const words = { v: 1, by: 'ada', reason: 'r', at: AT } as const;
      return { ...words, kind: 'decision', about, decision, answer: DECIDED[decision] };
    }
  }
}

const DECIDED = {
  adopt: answers.created(0),
  declareLost: answers.rejected(0, 'declared_lost'),
  resubmit: null,
};

export function answerOf(
  fate: Fate,
  sendAttempt: number,
): Exclude<CreateVideoAnswer, { outcome: 'pending' }> {
  switch (fate) {
    case 'created':
      return answers.created(sendAttempt);
    case 'unconfirmed':
      return answers.unconfirmed(sendAttempt);
    case 'refused':
      return answers.refused(sendAttempt, new Date(NOT_BEFORE).toISOString());
    case 'credentials':
      return {
        ...answers.rejected(sendAttempt, 'credentials'),
        notBefore: new Date(NOT_BEFORE).toISOString(),
      };
    case 'invalid':
      return answers.rejected(sendAttempt, 'moderation');
    case 'not_sent':
      return answers.notSent(sendAttempt);
  }
}

/** Nothing was sent, and nothing is recorded of it: another create may send. */
export const unsent = (cause: string): CreateVideoAnswer =>
  answers.notSent(0, { cause, sendAttemptUsed: false });
