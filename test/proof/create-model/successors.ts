import { type SendAttemptDecision, isRefusal } from '../../../src/domain/journal';
import { beginCreate, DEFAULT_START_LIMIT_MS, nextStep } from '../../../src/domain/create-once';
import { type CreateVideoAnswer } from '../../../src/domain/paid-call';
import { answers } from '../../domain/create-answers';
import { fenceBefore, loseJournal, provesNotSent, recordPlaceholder, unknownBefore } from './lost-journal';
import {
  again,
  answerOf,
  copyOf,
  copyOfJournal,
  decide,
  FATES,
  fenced,
  isUndecided,
  newSender,
  type Bounds,
  type Caller,
  type SendAttempt,
  type Fate,
  type Rules,
  type Sender,
  type World,
} from './world';

/** Every world that one event can lead to. A killed sender is one that never moves again, which every walk allows. */
export function successors(world: World, rules: Rules, bounds: Bounds): World[] {
  return new Step(world, rules, bounds).all();
}

class Step {
  private readonly next: World[] = [];

  constructor(
    private readonly world: World,
    private readonly rules: Rules,
    private readonly bounds: Bounds,
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
    const { step, lost } = this.world.senders[index] as Sender;
    switch (step) {
      case 'read':
        // Its clock may say that a Retry-After is over, or that it is not.
        for (const late of [true, false]) forked((copy, own) => this.read(copy, own, late));
        return;
      case 'claim':
        return this.claim(index);
      case 'announce':
        // The server has it; a sender that its workflow has given up is told so.
        forked((copy, own) => {
          const caller = copy.callers[own.caller] as Caller;
          if (own.zombie) return void Object.assign(own, { step: 'record', fate: 'not_sent' });
          caller.heard = { journal: copy.journal, sendAttempt: own.sendAttempt, holder: own.caller };
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
              copy.acceptedOf |= 1 << own.caller;
            }
            if (lost) leave(copy, own);
            else Object.assign(own, { step: 'record', fate });
          });
        return;
      case 'record':
        forked((copy, own) => {
          const sendAttempt = sendAttemptOf(copy, own.sendAttempt);
          sendAttempt.outcome ??= own.fate;
          this.deliver(copy, own, answerOf(sendAttempt.outcome as Fate, own.sendAttempt));
        });
        // The journal is down: the workflow is told all the same.
        forked((copy, own) => this.deliver(copy, own, answerOf(own.fate as Fate, own.sendAttempt)));
        return;
      case 'late write':
        forked((copy, own) => {
          sendAttemptOf(copy, own.sendAttempt).claim ??= own.caller;
          leave(copy, own);
        });
    }
  }

  private read(copy: World, own: Sender, late: boolean): void {
    if (!this.rules.journal) {
      own.step = 'claim';
      return;
    }
    const asker = { caller: own.caller, compares: true, late, asks: true };
    const unknown = unknownBefore(copy, own.sendAttempt, this.rules);
    if (unknown !== undefined) own.sendAttempt = unknown;
    const decision = decide(copy, own.sendAttempt, asker, this.bounds, this.rules);
    switch (decision.do) {
      case 'send':
        own.step = 'claim';
        return;
      case 'next_send_attempt':
        own.sendAttempt += 1;
        if (own.sendAttempt >= this.bounds.sendAttempts) leave(copy, own);
        return;
      case 'return':
        return this.deliver(copy, own, {
          ...decision.outcome.answer,
          sendAttempt: own.sendAttempt,
        } as CreateVideoAnswer);
      case 'fenced':
        return this.deliver(copy, own, fenced(own.sendAttempt));
      case 'conflict':
        return this.deliver(copy, own, answers.rejected(own.sendAttempt, 'creation_key_conflict'));
      case 'pending':
        return this.deliver(copy, own, answers.pending(own.sendAttempt));
    }
  }

  private claim(index: number): void {
    const forked = (change: (copy: World, own: Sender, sendAttempt: SendAttempt) => void): void =>
      this.fork((copy) => {
        const own = copy.senders[index] as Sender;
        change(copy, own, sendAttemptOf(copy, own.sendAttempt));
      });
    const { claim } = sendAttemptOf(this.world, (this.world.senders[index] as Sender).sendAttempt);
    if (claim !== null && this.rules.journal && this.rules.createIfAbsent) {
      forked((copy, own) => {
        const asker = { caller: own.caller, compares: true, late: false, asks: true };
        const conflicts = decide(copy, own.sendAttempt, asker, this.bounds, this.rules).do === 'conflict';
        const answer = conflicts
          ? answers.rejected(own.sendAttempt, 'creation_key_conflict')
          : answers.pending(own.sendAttempt);
        this.deliver(copy, own, answer);
      });
      return;
    }
    const begin = this.bounds.losses > 0 && this.rules.announces ? 'announce' : 'send';
    forked((copy, own, sendAttempt) => {
      fenceBefore(copy, own.sendAttempt);
      sendAttempt.claim = own.caller;
      own.step = begin;
    });
    if (!this.rules.journal) return;
    // Written, and an error all the same: it may not be durable.
    forked((copy, own, sendAttempt) => {
      fenceBefore(copy, own.sendAttempt);
      sendAttempt.claim = own.caller;
      if (this.rules.unsureIsUnsent) Object.assign(own, { step: 'record', fate: 'not_sent' });
      else {
        sendAttempt.claim = null;
        own.step = 'send';
      }
    });
    forked((copy, own) => this.deliver(copy, own, again(own.sendAttempt, 'journal_unavailable')));
    if (this.world.lateWrites < this.bounds.lateWrites)
      forked((copy, own) => {
        copy.lateWrites += 1;
        copy.senders.push({ ...own, zombie: true, step: 'late write' });
        this.deliver(copy, own, again(own.sendAttempt, 'journal_unavailable'));
      });
  }

  /** The answer reaches the workflow, unless the workflow has given this activity up. */
  private deliver(copy: World, own: Sender, answer: CreateVideoAnswer): void {
    leave(copy, own);
    if (own.zombie) return;
    // What is in the way is named.
    const holder = answer.outcome === 'pending' ? copy.sendAttempts[answer.sendAttempt]?.claim : undefined;
    if (this.bounds.losses > 0 && holder != null)
      (copy.callers[own.caller] as Caller).heard = {
        journal: copy.journal,
        sendAttempt: answer.sendAttempt,
        holder,
      };
    this.step(copy, own.caller, answer, false);
  }

  private caller(index: number): void {
    const forked = (change: (copy: World, own: Caller) => void): void =>
      this.fork((copy) => change(copy, copy.callers[index] as Caller));
    const { phase } = this.world.callers[index] as Caller;
    // A timeout of the create, whether its sender is dead or slow.
    const timeout = (copy: World, own: Caller): void => {
      for (const sender of copy.senders) if (sender.caller === index) sender.zombie = true;
      Object.assign(own, { phase: 'reconcile', sameRequest: false });
    };
    if (phase === 'creating') {
      forked(timeout);
      // The workflow's own timer was first: what the server heard is not known.
      if (this.bounds.losses > 0)
        forked((copy, own) => {
          timeout(copy, own);
          own.heard = null;
        });
    }
    if (phase === 'reconcile')
      for (const late of [true, false]) forked((copy, own) => this.reconcile(copy, own, index, late));
    if (phase === 'fencing') {
      forked((copy, own) => this.fence(copy, own, index));
      // Written or not, the journal fails: it is looked at again.
      forked((copy, own) => {
        if (this.rules.fence) {
          fenceBefore(copy, own.fenceAt);
          sendAttemptOf(copy, own.fenceAt).claim ??= 'fence';
        }
        own.phase = 'reconcile';
      });
    }
  }

  private step(copy: World, index: number, answer: CreateVideoAnswer, reconciled: boolean): void {
    const own = copy.callers[index] as Caller;
    const state = { ...beginCreate('key', 0), sendAttempt: own.sendAttempt };
    const context = { now: 0, random: 0, startLimitMs: DEFAULT_START_LIMIT_MS, reconciled };
    const decided = nextStep(state, answer, context);
    if (decided.do === 'settle') {
      const { outcome } = decided.answer;
      const kept = decided.answer.outcome === 'rejected' ? `rejected ${decided.answer.reason}` : outcome;
      Object.assign(own, { phase: 'done', end: kept });
      own.hasTask ||= outcome === 'created';
      copy.lostId ||=
        outcome === 'unconfirmed' &&
        copy.decisions === 0 &&
        copy.sendAttempts.some((sendAttempt) => sendAttempt.outcome === 'created');
      const holder = copy.sendAttempts[decided.answer.sendAttempt]?.claim;
      if (outcome === 'created' && typeof holder === 'number')
        copy.mixedUp ||= this.bounds.requests[holder] !== this.bounds.requests[index];
    } else if (decided.do === 'reconcile') Object.assign(own, { phase: 'reconcile', sameRequest: true });
    else this.create(copy, index, decided.state.sendAttempt);
  }

  private create(copy: World, index: number, sendAttempt: number): void {
    const own = copy.callers[index] as Caller;
    if (sendAttempt >= this.bounds.sendAttempts || own.creates >= this.bounds.creates)
      Object.assign(own, { phase: 'done', end: 'bound' });
    else {
      const anew = { heard: null, early: false } as const;
      Object.assign(own, { phase: 'creating', sendAttempt, end: null, creates: own.creates + 1, ...anew });
      copy.senders.push(newSender(index, sendAttempt));
    }
  }

  /** Follows the way that a sender of this run may have taken, and stands where that one would stand. */
  private reconcile(copy: World, own: Caller, index: number, late: boolean): void {
    const { comparesAgain, goesForward, leavesForeign, pendingIsUnknown } = this.rules;
    const tell = (answer: CreateVideoAnswer): void => this.step(copy, index, answer, true);
    const proved = !this.rules.ownJournal || provesNotSent(copy, own);
    const changed = (): void => {
      const at = recordPlaceholder(copy, index, 'unconfirmed');
      if (at === undefined) Object.assign(own, { phase: 'done', end: 'bound' });
      else tell(answers.unconfirmed(at));
    };
    for (
      let at = unknownBefore(copy, own.sendAttempt, this.rules) ?? own.sendAttempt;
      at < this.bounds.sendAttempts;
      at++
    ) {
      const { claim } = sendAttemptOf(copy, at);
      const asker = { caller: index, compares: comparesAgain && own.sameRequest, late, asks: false };
      const decision = decide(copy, at, asker, this.bounds, this.rules);
      if (decision.do === 'next_send_attempt' && goesForward) continue;
      if (decision.do === 'conflict') return tell(again(own.sendAttempt));
      const unseen = leavesForeign && !own.sameRequest;
      if (unseen && claim !== null && claim !== 'fence' && claim !== index)
        return this.shutOut(copy, at, decision) ? tell(again(own.sendAttempt)) : undefined;
      if ((decision.do === 'fenced' || decision.do === 'send') && !proved) return changed();
      if (decision.do === 'fenced')
        return tell(unseen && at > own.sendAttempt ? again(own.sendAttempt) : fenced(at));
      if (decision.do === 'pending') return tell(pendingIsUnknown ? answers.unconfirmed(at) : fenced(at));
      if (decision.do === 'send') return void Object.assign(own, { phase: 'fencing', fenceAt: at });
      const recorded = decision.do === 'return' ? decision.outcome.answer : answerOf('credentials', at);
      return tell({ ...recorded, sendAttempt: at } as CreateVideoAnswer);
    }
    Object.assign(own, { phase: 'done', end: 'bound' });
  }

  /** Where its lost create would send next, if it ever goes on. False when somebody sends there: it looks again. */
  private shutOut(copy: World, at: number, decision: SendAttemptDecision): boolean {
    const sendAttempt = copy.sendAttempts[at + 1];
    const final = decision.do === 'return' && !isRefusal(decision.outcome.answer, Infinity);
    // `next_send_attempt`: one that does not go forward has no eye for what is beyond.
    if (!this.rules.shutsOut || final || decision.do === 'next_send_attempt' || sendAttempt === undefined)
      return true;
    sendAttempt.claim ??= 'fence';
    return sendAttempt.claim === 'fence';
  }

  private fence(copy: World, own: Caller, index: number): void {
    const sendAttempt = sendAttemptOf(copy, own.fenceAt);
    if (this.rules.fence && this.rules.fenceLooks && sendAttempt.claim !== null) {
      own.phase = 'reconcile';
      return;
    }
    if (this.rules.fence) {
      fenceBefore(copy, own.fenceAt);
      sendAttempt.claim = 'fence';
    }
    const unseen = this.rules.leavesForeign && !own.sameRequest && own.fenceAt > own.sendAttempt;
    this.step(copy, index, unseen ? again(own.sendAttempt) : fenced(own.fenceAt), true);
  }

  /** The journal is lost, or set back to a copy of it. */
  private losses(): void {
    const { backup } = this.world;
    if (backup === null) this.fork((copy) => (copy.backup = copyOfJournal(copy.sendAttempts)));
    for (const found of backup === null ? [null] : [null, backup])
      this.fork((copy) => loseJournal(copy, found, this.bounds, this.rules));
  }

  /** Somebody decides about a create of unknown fate; after a resubmission the workflow that waited goes on. */
  private people(): void {
    this.world.sendAttempts.forEach((_, at) => {
      if (!isUndecided(this.world, at, this.bounds)) return;
      for (const decision of ['adopt', 'declareLost', 'resubmit'] as const)
        this.fork((copy) => {
          copy.decisions += 1;
          sendAttemptOf(copy, at).decision = decision;
          if (decision !== 'resubmit') return;
          copy.authorised += 1;
          copy.callers.forEach(({ end }, index) => {
            if (end === 'unconfirmed') this.create(copy, index, at + 1);
          });
        });
    });
  }
}

const sendAttemptOf = (world: World, index: number): SendAttempt => world.sendAttempts[index] as SendAttempt;

function leave(world: World, sender: Sender): void {
  world.senders.splice(world.senders.indexOf(sender), 1);
}
