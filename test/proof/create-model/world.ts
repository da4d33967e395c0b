import {
  decideEpoch,
  type EpochDecision,
  type EpochView,
  isOpenFate,
  mayFollow,
  type Resolution,
  type SlotIntent,
} from '../../../src/domain/journal';
import { RECORDED_BY_ANOTHER_RUN } from '../../../src/domain/names';
import { type CreateVideoAnswer } from '../../../src/domain/paid-call';
import { answers } from '../../domain/create-answers';

/** Rules of create-once; a walk with one of them switched off has to go wrong. */
export interface Rules {
  /** Whether "the slot is empty" is made true for ever before it counts as "not sent". */
  readonly fence: boolean;
  /** Whether a fence is written only where no slot is. */
  readonly fenceLooks: boolean;
  /** Whether a slot is taken by create-if-absent, or simply written. */
  readonly createIfAbsent: boolean;
  /** Whether there is a journal: records are looked at, and slots taken, before a send. */
  readonly journal: boolean;
  /** Whether a reconciliation goes on where a sender of its run would go on, or looks at one epoch only. */
  readonly goesForward: boolean;
  /** Whether a taken slot without an outcome may hide a send. */
  readonly pendingIsUnknown: boolean;
  /** Whether an intent that may not be durable is given up. */
  readonly unsureIsUnsent: boolean;
  /** Whether a reconciliation compares the requests, where its create has. */
  readonly comparesAgain: boolean;
  /** Whether a reconciliation tells of another run's epochs only after the create has compared the requests. */
  readonly leavesForeign: boolean;
  /** Whether a reconciliation that ends at another run's epoch shuts out its own lost create beyond it. */
  readonly shutsOut: boolean;
  /** Whether an epoch without an outcome is left behind where somebody sent in a later one. */
  readonly follows: boolean;
  /** Whether only the journal that a sender named, while it has what was named, proves "not sent". */
  readonly ownJournal: boolean;
  /** Whether the server has heard of an intent before its request leaves. */
  readonly announces: boolean;
  /** Whether what was lost with a journal stands in the next one as an unknown fate. */
  readonly standsIn: boolean;
  /** Whether a caller sees what stands in before the epoch where it begins. */
  readonly looksBack: boolean;
}

export const SOUND: Rules = {
  fence: true,
  fenceLooks: true,
  createIfAbsent: true,
  journal: true,
  goesForward: true,
  pendingIsUnknown: true,
  unsureIsUnsent: true,
  comparesAgain: true,
  leavesForeign: true,
  shutsOut: true,
  follows: true,
  ownJournal: true,
  announces: true,
  standsIn: true,
  looksBack: true,
};

/** How large the walked space is. */
export interface Bounds {
  readonly epochs: number;
  /** Request of each caller: callers with equal numbers ask for the same. */
  readonly requests: readonly number[];
  /** Callers whose person wants a refused request sent again. */
  readonly again?: readonly number[];
  /** Create activities of one caller. */
  readonly creates: number;
  /** Decisions of people. */
  readonly decisions: number;
  /** Slots that are written after their writer was told of an error. */
  readonly lateWrites: number;
  /** Journals that are lost, or set back to a copy: a person binds the next one once no worker uses the last one any more. */
  readonly losses: number;
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

/** Number of the caller that holds the slot, or a fence. */
export type Holder = number | 'fence';

export interface Epoch {
  slot: Holder | null;
  outcome: Fate | null;
  decision: 'adopt' | 'declareLost' | 'resubmit' | null;
}
export interface Sender {
  readonly caller: number;
  /** Its workflow has given it up, or it is the one that the workflow waits for. */
  zombie: boolean;
  epoch: number;
  step: 'read' | 'claim' | 'announce' | 'send' | 'record' | 'late write';
  fate: Fate | null;
  /** Its process has ended; what it sent is still on the way. */
  lost: boolean;
}
/** What the server was told of a create. */
export interface Word {
  readonly journal: number;
  readonly epoch: number;
  readonly holder: Holder;
}
export interface Caller {
  epoch: number;
  phase: 'creating' | 'reconcile' | 'fencing' | 'done';
  /** Epoch of the fence that is to be taken. */
  fenceAt: number;
  sameRequest: boolean;
  creates: number;
  end: string | null;
  /** Of its create, or of the one that was in its way. */
  heard: Word | null;
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
  backup: Epoch[] | null;
  epochs: Epoch[];
  senders: Sender[];
  callers: Caller[];
  accepted: number;
  authorised: number;
  decisions: number;
  lateWrites: number;
  /** Callers of which a send was accepted, as bits. */
  acceptedOf: number;
  /** Somebody was given the result of another request. */
  mixedUp: boolean;
  /** Somebody was told "unconfirmed" while the journal had the task. */
  lostId: boolean;
}

/** Time before which a refusal of the model forbids a send; readers' clocks say anything. */
export const NOT_BEFORE = 1000;

export function firstWorld({ epochs, requests }: Bounds): World {
  return {
    journal: 0,
    losses: 0,
    backup: null,
    epochs: emptyJournal(epochs),
    senders: requests.map((_, caller) => newSender(caller, 0)),
    callers: requests.map(() => ({
      epoch: 0,
      phase: 'creating',
      fenceAt: 0,
      sameRequest: false,
      creates: 1,
      end: null,
      heard: null,
      early: false,
      hasTask: false,
    })),
    accepted: 0,
    authorised: 0,
    decisions: 0,
    lateWrites: 0,
    acceptedOf: 0,
    mixedUp: false,
    lostId: false,
  };
}

export function emptyJournal(epochs: number): Epoch[] {
  return Array.from({ length: epochs }, () => ({ slot: null, outcome: null, decision: null }));
}

export function newSender(caller: number, epoch: number): Sender {
  return { caller, zombie: false, epoch, step: 'read', fate: null, lost: false };
}

export function copyOf(world: World): World {
  return {
    ...world,
    epochs: copyOfJournal(world.epochs),
    senders: world.senders.map((sender) => ({ ...sender })),
    callers: world.callers.map((caller) => ({ ...caller })),
  };
}

export function copyOfJournal(epochs: readonly Epoch[]): Epoch[] {
  return epochs.map((epoch) => ({ ...epoch }));
}

const runOf = (caller: number): string => `run-${caller}`;

/** What the journal holds of an epoch, as the real decisions read it. */
export function viewOf({ epochs }: World, at: number, { requests }: Bounds): EpochView {
  const { slot, outcome, decision } = epochs[at] as Epoch;
  return {
    slot:
      slot === null
        ? null
        : slot === 'fence'
          ? { v: 1, kind: 'fence', nonce: 'f', at: '' }
          : ({ kind: 'intent', fingerprint: `request-${requests[slot]}`, runId: runOf(slot) } as SlotIntent),
    outcome: outcome === null ? null : { v: 1, nonce: 'n', at: '', answer: answerOf(outcome, at) },
    resolution:
      decision === null
        ? null
        : ({
            decision,
            decisionId: 'd',
            at: '',
            answer:
              decision === 'adopt'
                ? answers.created(at)
                : decision === 'declareLost'
                  ? answers.rejected(at, 'declared_lost')
                  : null,
          } as Resolution),
  };
}

const decided = new Map<string, EpochDecision>();

interface Asker {
  readonly caller: number;
  readonly compares: boolean;
  readonly late: boolean;
  /** Says what its person wants. */
  readonly asks: boolean;
}

/** The real decision, with the real way over epochs that another clock has opened (src/activities/journal-epochs.ts). */
export function decide(
  world: World,
  at: number,
  { caller, compares, late, asks }: Asker,
  { requests, again, ...bounds }: Bounds,
  { follows }: Rules,
): EpochDecision {
  const { slot, outcome, decision } = world.epochs[at] as Epoch;
  const request = requests[caller];
  const passed = isPassed(world, at, (holder) => !compares || requests[holder] === request);
  const repeats = asks && again?.includes(caller) === true;
  const name = `${follows} ${at} ${slot} ${outcome} ${decision} ${passed} ${caller} ${compares} ${late} ${repeats} ${requests.join()}`;
  const known = decided.get(name);
  if (known !== undefined) return known;
  const view = viewOf(world, at, { requests, ...bounds });
  const who = {
    fingerprint: compares ? `request-${request}` : null,
    runId: runOf(caller),
    now: late ? NOT_BEFORE : 0,
    again: repeats,
  };
  const own = decideEpoch(view, who);
  const opens = passed && mayFollow(view, who) && (follows || own.do !== 'pending');
  const made: EpochDecision = opens ? { do: 'next_epoch' } : own;
  decided.set(name, made);
  return made;
}

function isPassed({ epochs }: World, at: number, counts: (holder: number) => boolean): boolean {
  for (const { slot } of epochs.slice(at + 1)) {
    if (slot === null) return false;
    if (slot !== 'fence' && counts(slot)) return true;
  }
  return false;
}

export function answerOf(fate: Fate, epoch: number): Exclude<CreateVideoAnswer, { outcome: 'pending' }> {
  switch (fate) {
    case 'created':
      return answers.created(epoch);
    case 'unconfirmed':
      return answers.unconfirmed(epoch);
    case 'refused':
      return answers.refused(epoch, new Date(NOT_BEFORE).toISOString());
    case 'credentials':
      return { ...answers.rejected(epoch, 'credentials'), notBefore: new Date(NOT_BEFORE).toISOString() };
    case 'invalid':
      return answers.rejected(epoch, 'moderation');
    case 'not_sent':
      return answers.notSent(epoch);
  }
}

export const fenced = (epoch: number): CreateVideoAnswer => answers.notSent(epoch, { cause: 'fenced' });
/** Nothing is known or done: the same epoch is asked for again. */
export const again = (epoch: number, cause = RECORDED_BY_ANOTHER_RUN): CreateVideoAnswer =>
  answers.notSent(epoch, { cause, epochUsed: false });

/** Whether somebody may decide about this epoch now. */
export function isUndecided(world: World, at: number, bounds: Bounds): boolean {
  return world.epochs[at]?.decision === null && isOpenFate(viewOf(world, at, bounds));
}
