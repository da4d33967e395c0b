import { recordedAnswer } from '../../../src/activities/paid-answers';
import { beginCreate, DEFAULT_START_LIMIT_MS, nextStep } from '../../../src/domain/create-once';
import { type CreateVideoAnswer } from '../../../src/domain/paid-call';
import { type KeyState, type Licence } from '../../../src/domain/paid-log';
import { answers } from '../../domain/create-answers';
import { loseJournal } from './lost-journal';
import { type Logs, undecided } from './read-log';
import { Reconciliation } from './reconciliation';
import {
  activityOf,
  answerOf,
  bitOf,
  copyOf,
  callerOf,
  FATES,
  newSender,
  unsent,
  type Bounds,
  type Caller,
  type Entry,
  type Fate,
  type Rules,
  type Sender,
  type World,
} from './world';

/** Every world that one event can lead to. A killed sender is one that never moves again, which every walk allows. */
export function successors(world: World, rules: Rules, bounds: Bounds, logs: Logs): World[] {
  return new Step(world, rules, bounds, logs).all();
}

/** Causes of "not sent" that say nothing about the create itself: a person has decided about its send. */
const SAYS_NOTHING: ReadonlySet<string> = new Set(['decided']);

class Step {
  private readonly next: World[] = [];

  constructor(
    private readonly world: World,
    private readonly rules: Rules,
    private readonly bounds: Bounds,
    private readonly logs: Logs,
  ) {}

  all(): World[] {
    this.world.senders.forEach((_, index) => this.sender(index));
    this.world.callers.forEach((_, index) => this.caller(index));
    if (this.world.decisions < this.bounds.decisions) this.people();
    if (this.world.losses < this.bounds.losses) this.losses();
    return this.next;
  }

  private fork(change: (copy: World) => void): void {
    const copy = copyOf(this.world);
    change(copy);
    this.next.push(copy);
  }

  private sender(index: number): void {
    const forked = (change: (copy: World, own: Sender) => void): void =>
      this.fork((copy) => change(copy, copy.senders[index] as Sender));
    const { step, lost, place } = this.world.senders[index] as Sender;
    switch (step) {
      case 'read':
        // Its clock may say that a Retry-After is over, or that it is not.
        for (const late of [true, false]) forked((copy, own) => this.read(copy, own, late));
        return;
      case 'append':
        return this.append(index);
      case 'announce':
        // The server has it; a sender that its workflow has given up is told so.
        forked((copy, own) => {
          if (own.zombie) return void Object.assign(own, { step: 'record', fate: 'not_sent' });
          (copy.callers[callerOf(own.of)] as Caller).heard = own.of;
          own.step = 'send';
        });
        // The server does not answer: nothing leaves.
        forked((_, own) => Object.assign(own, { step: 'record', fate: 'not_sent' }));
        return;
      case 'send':
        for (const { fate, accepted } of FATES)
          forked((copy, own) => {
            if (accepted) {
              copy.accepted += 1;
              copy.acceptedOf |= bitOf(own.of);
            }
            if (lost) leave(copy, own);
            else Object.assign(own, { step: 'record', fate });
          });
        return;
      case 'record':
        forked((copy, own) => this.record(copy, own));
        // The journal is down: a purchase is told all the same.
        forked((copy, own) => this.unrecorded(copy, own));
        return;
      case 'late write':
        forked((copy, own) => {
          if (copy.log.length === place) copy.log = [...copy.log, { kind: 'intent', of: own.of }];
          leave(copy, own);
        });
    }
  }

  private read(copy: World, own: Sender, late: boolean): void {
    own.place = copy.log.length;
    if (!this.rules.journal) return void (own.step = 'append');
    const licence = this.logs.decide(copy.log, own.of, { compares: true, late, asks: true });
    if (licence.do === 'send') own.step = 'append';
    else this.tellRecorded(copy, own, licence);
  }

  /** What the log says, instead of a send. */
  private tellRecorded(copy: World, own: Sender, licence: Licence): void {
    const { state } = this.logs.of(copy.log);
    switch (licence.do) {
      case 'send':
        return this.deliver(copy, own, unsent('overtaken'));
      case 'return':
        return this.deliver(copy, own, { ...told(state, licence.at), sent: false });
      case 'fenced':
        return this.deliver(copy, own, unsent('fenced'));
      case 'conflict':
        return this.deliver(copy, own, {
          ...answers.rejected(state.sends.length, 'creation_key_conflict'),
          sent: false,
        });
      case 'pending': {
        const announced = state.sends[licence.at]?.sent.nonce ?? '';
        return this.deliver(copy, own, { ...answers.pending(licence.at), announced });
      }
    }
  }

  private append(index: number): void {
    const forked = (change: (copy: World, own: Sender) => void): void =>
      this.fork((copy) => change(copy, copy.senders[index] as Sender));
    const { place } = this.world.senders[index] as Sender;
    const { journal, placeIsLicence, announces, unsureIsUnsent } = this.rules;
    if (journal && placeIsLicence && this.world.log.length !== place)
      return forked((copy, own) => {
        const asker = { compares: true, late: false, asks: true };
        this.tellRecorded(copy, own, this.logs.decide(copy.log, own.of, asker));
      });
    const sends = this.world.log.filter(({ kind }) => kind === 'intent').length;
    if (sends >= this.bounds.sends) return forked(leave);
    const begin = this.bounds.losses > 0 && announces ? 'announce' : 'send';
    const write = (copy: World, own: Sender): void => {
      copy.log = [...copy.log, { kind: 'intent', of: own.of }];
    };
    forked((copy, own) => {
      write(copy, own);
      own.step = begin;
    });
    if (!journal) return;
    // Written, and an error all the same: it may not be durable.
    forked((copy, own) => {
      if (!unsureIsUnsent) return void (own.step = 'send');
      write(copy, own);
      Object.assign(own, { step: 'record', fate: 'not_sent' });
    });
    forked((copy, own) => this.deliver(copy, own, unsent('journal_unavailable')));
    if (this.world.lateWrites < this.bounds.lateWrites)
      forked((copy, own) => {
        copy.lateWrites += 1;
        copy.senders.push({ ...own, zombie: true, step: 'late write' });
        this.deliver(copy, own, unsent('journal_unavailable'));
      });
  }

  /** What is recorded by then, a purchase or a decision, counts. */
  private record(copy: World, own: Sender): void {
    copy.log = [...copy.log, { kind: 'answer', nonce: own.of, fate: own.fate as Fate }];
    const { state } = this.logs.of(copy.log);
    const sent = state.sends.findIndex((send) => send.sent.nonce === own.of);
    const at = state.bought ?? Math.max(0, sent);
    const isOwn = state.sends[at]?.answer?.nonce === own.of;
    this.deliver(copy, own, isOwn || sent < 0 ? answerOf(own.fate as Fate, at) : told(state, at));
  }

  private unrecorded(copy: World, own: Sender): void {
    const { sends } = this.logs.of(copy.log).state;
    const at = Math.max(
      0,
      sends.findIndex(({ sent }) => sent.nonce === own.of),
    );
    if (own.fate === 'created') return this.deliver(copy, own, answerOf(own.fate, at));
    if (!own.zombie) (copy.callers[callerOf(own.of)] as Caller).unrecorded = own.fate;
    this.deliver(copy, own, { ...answers.pending(at), announced: own.of });
  }

  /** The answer reaches the workflow, unless the workflow has given this activity up. */
  private deliver(copy: World, own: Sender, answer: CreateVideoAnswer): void {
    leave(copy, own);
    if (own.zombie) return;
    const index = callerOf(own.of);
    // What is in the way is named.
    if (this.bounds.losses > 0 && answer.outcome === 'pending')
      (copy.callers[index] as Caller).heard = answer.announced ?? null;
    this.step(copy, index, answer, false);
  }

  private caller(index: number): void {
    const forked = (change: (copy: World, own: Caller) => void): void =>
      this.fork((copy) => change(copy, copy.callers[index] as Caller));
    const { phase } = this.world.callers[index] as Caller;
    // A timeout of the create, whether its sender is dead or slow.
    const timeout = (copy: World, own: Caller): void => {
      for (const sender of copy.senders) if (callerOf(sender.of) === index) sender.zombie = true;
      Object.assign(own, { phase: 'reconcile', sameRequest: false });
    };
    if (phase === 'creating') {
      forked(timeout);
      // The workflow's own timer was first: what the server heard is not known.
      if (this.bounds.losses > 0 && this.bounds.unnoticed !== true)
        forked((copy, own) => {
          timeout(copy, own);
          own.heard = null;
        });
    }
    const reconciled = (copy: World): Reconciliation =>
      new Reconciliation(copy, index, this.rules, this.logs, (answer) =>
        this.step(copy, index, answer, true),
      );
    if (phase === 'reconcile')
      for (const late of [true, false]) forked((copy) => reconciled(copy).read(late));
    if (phase === 'writing') {
      forked((copy) => reconciled(copy).write());
      // Written or not, the journal fails: the log is read again.
      forked((copy) => reconciled(copy).writeUnheard());
    }
  }

  private step(copy: World, index: number, answer: CreateVideoAnswer, reconciled: boolean): void {
    const own = copy.callers[index] as Caller;
    if (answer.outcome === 'not_sent' && !SAYS_NOTHING.has(answer.cause))
      copy.unsentOf |= bitOf(activityOf(index, own.creates - 1));
    const context = { now: 0, random: 0, startLimitMs: DEFAULT_START_LIMIT_MS, reconciled };
    const decided = nextStep(beginCreate('key', 0), answer, context);
    if (decided.do === 'settle') {
      const { outcome } = decided.answer;
      const kept = decided.answer.outcome === 'rejected' ? `rejected ${decided.answer.reason}` : outcome;
      Object.assign(own, { phase: 'done', end: kept, unrecorded: null });
      own.hasTask ||= outcome === 'created';
      const { sends } = this.logs.of(copy.log).state;
      copy.lostId ||=
        (outcome === 'unconfirmed' || kept === 'rejected declared_lost') &&
        copy.log.some((entry) => entry.kind === 'answer' && entry.fate === 'created');
      const holder = sends[decided.answer.sendAttempt]?.sent;
      if (outcome === 'created' && holder !== undefined)
        copy.mixedUp ||= this.bounds.requests[callerOf(holder.sender)] !== this.bounds.requests[index];
    } else if (decided.do === 'reconcile') Object.assign(own, { phase: 'reconcile', sameRequest: true });
    else this.create(copy, index);
  }

  private create(copy: World, index: number): void {
    const own = copy.callers[index] as Caller;
    if (own.creates >= (this.bounds.creates[index] ?? 1))
      return void Object.assign(own, { phase: 'done', end: 'bound' });
    const anew = { heard: null, early: false, unrecorded: null, sameRequest: false } as const;
    Object.assign(own, { phase: 'creating', end: null, creates: own.creates + 1, ...anew });
    copy.senders.push(newSender(activityOf(index, own.creates - 1)));
  }

  /** The journal is lost, or set back to a copy of it. */
  private losses(): void {
    const { backup, log } = this.world;
    if (backup === null) this.fork((copy) => (copy.backup = log));
    for (const found of backup === null ? [null] : [null, backup])
      this.fork((copy) => loseJournal(copy, found, this.rules, this.logs));
    if (backup !== null && this.bounds.unnoticed === true)
      this.fork((copy) => {
        copy.losses += 1;
        copy.log = backup;
        copy.senders = copy.senders.filter(({ step }) => step === 'send');
        for (const sender of copy.senders) sender.lost = true;
      });
  }

  /** Somebody decides about a create of unknown fate; after a resubmission the workflow that waited goes on. */
  private people(): void {
    const found = undecided(this.logs.of(this.world.log));
    if (found === undefined) return;
    const { nonce } = found.send.sent;
    for (const decision of ['adopt', 'declareLost', 'resubmit'] as const)
      this.fork((copy) => {
        copy.decisions += 1;
        const isGivenUp: readonly Entry[] = found.isOpen
          ? [{ kind: 'answer', nonce, fate: 'unconfirmed' }]
          : [];
        copy.log = [...copy.log, ...isGivenUp, { kind: 'decision', nonce, decision }];
        if (decision !== 'resubmit') return;
        copy.authorised += 1;
        copy.callers.forEach(({ end }, index) => {
          if (end === 'unconfirmed') this.create(copy, index);
        });
      });
  }
}

const told = (state: KeyState, at: number): CreateVideoAnswer =>
  recordedAnswer(state, at) as CreateVideoAnswer;

function leave(world: World, sender: Sender): void {
  world.senders.splice(world.senders.indexOf(sender), 1);
}
