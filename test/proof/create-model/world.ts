import {
  decideSendAttempt,
  type SendAttemptDecision,
  type SendAttemptView,
  isOpenFate,
  mayFollow,
  type Resolution,
  type ClaimIntent,
} from '../../../src/domain/journal';
import { RECORDED_BY_ANOTHER_RUN } from '../../../src/domain/names';
import { type CreateVideoAnswer } from '../../../src/domain/paid-call';
import { answers } from '../../domain/create-answers';

/** Rules of create-once; a walk with one of them switched off has to go wrong. */
export interface Rules {
  /** Whether "the claim is empty" is made true for ever before it counts as "not sent". */
  readonly fence: boolean;
  /** Whether a fence is written only where no claim is. */
  readonly fenceLooks: boolean;
  /** Whether a claim is taken by create-if-absent, or simply written. */
  readonly createIfAbsent: boolean;
  /** Whether there is a journal: records are looked at, and claims taken, before a send. */
  readonly journal: boolean;
  /** Whether a reconciliation goes on where a sender of its run would go on, or looks at one send attempt only. */
  readonly goesForward: boolean;
  /** Whether a taken claim without an outcome may hide a send. */
  readonly pendingIsUnknown: boolean;
  /** Whether an intent that may not be durable is given up. */
  readonly unsureIsUnsent: boolean;
  /** Whether a reconciliation compares the requests, where its create has. */
  readonly comparesAgain: boolean;
  /** Whether a reconciliation tells of another run's send attempts only after the create has compared the requests. */
  readonly leavesForeign: boolean;
  /** Whether a reconciliation that ends at another run's send attempt shuts out its own lost create beyond it. */
  readonly shutsOut: boolean;
  /** Whether a send attempt without an outcome is left behind where somebody sent in a later one. */
  readonly follows: boolean;
  /** Whether only the journal that a sender named, while it has what was named, proves "not sent". */
  readonly ownJournal: boolean;
  /** Whether the server has heard of an intent before its request leaves. */
  readonly announces: boolean;
  /** Whether what was lost with a journal stands in the next one as an unknown fate. */
  readonly standsIn: boolean;
  /** Whether a caller sees what stands in before the send attempt where it begins. */
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
  readonly sendAttempts: number;
  /** Request of each caller: callers with equal numbers ask for the same. */
  readonly requests: readonly number[];
  /** Callers whose person wants a refused request sent again. */
  readonly again?: readonly number[];
  /** Create activities of one caller. */
  readonly creates: number;
  /** Decisions of people. */
  readonly decisions: number;
  /** Claims that are written after their writer was told of an error. */
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

/** Number of the caller that holds the claim, or a fence. */
export type Holder = number | 'fence';

export interface SendAttempt {
  claim: Holder | null;
  outcome: Fate | null;
  decision: 'adopt' | 'declareLost' | 'resubmit' | null;
}
export interface Sender {
  readonly caller: number;
  /** Its workflow has given it up, or it is the one that the workflow waits for. */
  zombie: boolean;
  sendAttempt: number;
  step: 'read' | 'claim' | 'announce' | 'send' | 'record' | 'late write';
  fate: Fate | null;
  /** Its process has ended; what it sent is still on the way. */
  lost: boolean;
}
/** What the server was told of a create. */
export interface Word {
  readonly journal: number;
  readonly sendAttempt: number;
  readonly holder: Holder;
}
export interface Caller {
  sendAttempt: number;
  phase: 'creating' | 'reconcile' | 'fencing' | 'done';
  /** Send attempt of the fence that is to be taken. */
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
  backup: SendAttempt[] | null;
  sendAttempts: SendAttempt[];
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

export function firstWorld({ sendAttempts, requests }: Bounds): World {
  return {
    journal: 0,
    losses: 0,
    backup: null,
    sendAttempts: emptyJournal(sendAttempts),
    senders: requests.map((_, caller) => newSender(caller, 0)),
    callers: requests.map(() => ({
      sendAttempt: 0,
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

export function emptyJournal(sendAttempts: number): SendAttempt[] {
  return Array.from({ length: sendAttempts }, () => ({ claim: null, outcome: null, decision: null }));
}

export function newSender(caller: number, sendAttempt: number): Sender {
  return { caller, zombie: false, sendAttempt, step: 'read', fate: null, lost: false };
}

export function copyOf(world: World): World {
  return {
    ...world,
    sendAttempts: copyOfJournal(world.sendAttempts),
    senders: world.senders.map((sender) => ({ ...sender })),
    callers: world.callers.map((caller) => ({ ...caller })),
  };
}

export function copyOfJournal(sendAttempts: readonly SendAttempt[]): SendAttempt[] {
  return sendAttempts.map((sendAttempt) => ({ ...sendAttempt }));
}

const runOf = (caller: number): string => `run-${caller}`;

/** What the journal holds of a send attempt, as the real decisions read it. */
export function viewOf({ sendAttempts }: World, at: number, { requests }: Bounds): SendAttemptView {
  const { claim, outcome, decision } = sendAttempts[at] as SendAttempt;
  return {
    claim:
      claim === null
        ? null
        : claim === 'fence'
          ? { v: 1, kind: 'fence', nonce: 'f', at: '' }
          : ({
              kind: 'intent',
              fingerprint: `request-${requests[claim]}`,
              runId: runOf(claim),
            } as ClaimIntent),
    outcome: outcome === null ? null : { v: 1, nonce: 'n', at: '', answer: answerOf(outcome, at) },
    resolution:
      decision === null
        ? null
        : ({
            decision,
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

const decided = new Map<string, SendAttemptDecision>();

interface Asker {
  readonly caller: number;
  readonly compares: boolean;
  readonly late: boolean;
  /** Says what its person wants. */
  readonly asks: boolean;
}

/** The real decision, with the real way over send attempts that another clock has opened (src/activities/send-attempts.ts). */
export function decide(
  world: World,
  at: number,
  { caller, compares, late, asks }: Asker,
  { requests, again, ...bounds }: Bounds,
  { follows }: Rules,
): SendAttemptDecision {
  const { claim, outcome, decision } = world.sendAttempts[at] as SendAttempt;
  const request = requests[caller];
  const passed = isPassed(world, at, (holder) => !compares || requests[holder] === request);
  const repeats = asks && again?.includes(caller) === true;
  const name = `${follows} ${at} ${claim} ${outcome} ${decision} ${passed} ${caller} ${compares} ${late} ${repeats} ${requests.join()}`;
  const known = decided.get(name);
  if (known !== undefined) return known;
  const view = viewOf(world, at, { requests, ...bounds });
  const who = {
    fingerprint: compares ? `request-${request}` : null,
    runId: runOf(caller),
    now: late ? NOT_BEFORE : 0,
    again: repeats,
  };
  const own = decideSendAttempt(view, who);
  const opens = passed && mayFollow(view, who) && (follows || own.do !== 'pending');
  const made: SendAttemptDecision = opens ? { do: 'next_send_attempt' } : own;
  decided.set(name, made);
  return made;
}

function isPassed({ sendAttempts }: World, at: number, counts: (holder: number) => boolean): boolean {
  for (const { claim } of sendAttempts.slice(at + 1)) {
    if (claim === null) return false;
    if (claim !== 'fence' && counts(claim)) return true;
  }
  return false;
}

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

export const fenced = (sendAttempt: number): CreateVideoAnswer =>
  answers.notSent(sendAttempt, { cause: 'fenced' });
/** Nothing is known or done: the same send attempt is asked for again. */
export const again = (sendAttempt: number, cause = RECORDED_BY_ANOTHER_RUN): CreateVideoAnswer =>
  answers.notSent(sendAttempt, { cause, sendAttemptUsed: false });

/** Whether somebody may decide about this send attempt now. */
export function isUndecided(world: World, at: number, bounds: Bounds): boolean {
  return world.sendAttempts[at]?.decision === null && isOpenFate(viewOf(world, at, bounds));
}
