import { recordedAnswer } from '../../../src/activities/paid-answers';
import { isDecided, isUnseen } from '../../../src/activities/unknown-sends';
import { purchaseOf, type Send } from '../../../src/domain/log-entries';
import { RECORDED_BY_ANOTHER_RUN } from '../../../src/domain/names';
import { type CreateVideoAnswer } from '../../../src/domain/paid-call';
import { type KeyState } from '../../../src/domain/paid-log';
import { unseenName } from './lost-journal';
import { type Logs } from './read-log';
import {
  activityOf,
  runOf,
  unsent,
  type Activity,
  type Caller,
  type Entry,
  type Rules,
  type World,
} from './world';

/** One look of a reconciliation into the log (src/activities/reconcile-create.ts), and what it writes there. */
export class Reconciliation {
  private readonly own: Caller;
  private readonly of: Activity;

  constructor(
    private readonly copy: World,
    private readonly index: number,
    private readonly rules: Rules,
    private readonly logs: Logs,
    private readonly tell: (answer: CreateVideoAnswer) => void,
  ) {
    this.own = copy.callers[index] as Caller;
    this.of = activityOf(index, this.own.creates - 1);
  }

  private get state(): KeyState {
    return this.logs.of(this.copy.log).state;
  }

  read(late: boolean): void {
    const { own, of, rules } = this;
    this.recordUnrecorded();
    const { sends, bought } = this.state;
    const trace = { sender: of, announced: own.heard };
    if (bought === null && rules.ownJournal && isUnseen(this.logs.of(this.copy.log), trace))
      return this.unseen();
    const at = sends.findLastIndex(({ sent }) => sent.sender === of);
    if (rules.ownSends && at !== -1) return this.ofOwnSend(at);
    const compares = own.sameRequest && rules.comparesAgain;
    const licence = this.logs.decide(this.copy.log, of, { compares, late, asks: false });
    return 'at' in licence ? this.ofAnotherSend(licence.do, licence.at) : this.notSent();
  }

  /** What the create could not record of its send. */
  private recordUnrecorded(): void {
    const { own, of, state, copy } = this;
    const isOpen = state.open !== null && state.sends[state.open]?.sent.nonce === of;
    if (own.unrecorded !== null && isOpen)
      copy.log = [...copy.log, { kind: 'answer', nonce: of, fate: own.unrecorded }];
    own.unrecorded = null;
  }

  private ofOwnSend(at: number): void {
    const { bought, open, sends } = this.state;
    if (bought !== null && this.isSameRequest(bought, at)) return this.recorded(bought);
    if (open === at && !this.rules.pendingIsUnknown) return this.tell(unsent('fenced'));
    if (open === at) return this.giveUp(at);
    return sends[at]?.decision?.decision === 'resubmit' ? this.tell(unsent('decided')) : this.recorded(at);
  }

  /** Another request may have been bought under the key since. */
  private isSameRequest(bought: number, own: number): boolean {
    const { sends } = this.state;
    const [theirs, ours] = [sends[bought]?.sent.fingerprint ?? null, sends[own]?.sent.fingerprint ?? null];
    return !this.rules.comparesPurchases || theirs === null || ours === null || theirs === ours;
  }

  private ofAnotherSend(verdict: 'conflict' | 'return' | 'pending', at: number): void {
    const { sends, refused } = this.state;
    const send = sends[at];
    const isOwnRun = send?.sent.runId === runOf(this.index) || send?.sent.kind === 'lost';
    const isCompared = this.own.sameRequest || isOwnRun || !this.rules.leavesForeign;
    if (verdict !== 'conflict' && isCompared) {
      if (verdict === 'return') return refused === at ? this.notSent() : this.recorded(at);
      return this.rules.pendingIsUnknown ? this.giveUp(at) : this.tell(unsent('fenced'));
    }
    if (purchaseOf(send as Send) === undefined && this.isEarly()) return this.unseen();
    if (!this.rules.shutsOut || this.isFenced()) return this.tell(unsent(RECORDED_BY_ANOTHER_RUN));
    this.writes({ kind: 'fence', of: this.of }, RECORDED_BY_ANOTHER_RUN);
  }

  private notSent(): void {
    if (this.isEarly()) return this.unseen();
    if (!this.rules.fence || this.isFenced()) return this.tell(unsent('fenced'));
    this.writes({ kind: 'fence', of: this.of });
  }

  private isEarly(): boolean {
    return this.rules.boundBefore && this.own.early;
  }

  private isFenced(): boolean {
    return this.state.fenced.includes(this.of);
  }

  private unseen(): void {
    const { own, of, copy } = this;
    const trace = { sender: unseenName(of), announced: own.heard };
    const log = this.logs.of(copy.log);
    if (isDecided(log, trace)) return this.tell(unsent('decided'));
    const nonce = own.heard ?? unseenName(of);
    const isNoted = log.state.sends.some(({ sent }) => sent.nonce === nonce);
    if (isNoted) return this.tell(recorded(log.state, log.state.unknown ?? log.state.sends.length - 1));
    this.writes({ kind: 'lost', of, nonce });
  }

  /** No sender of the open intent can be alive. */
  private giveUp(at: number): void {
    const nonce = this.state.sends[at]?.sent.nonce ?? '';
    this.writes({ kind: 'answer', nonce, fate: 'unconfirmed' });
  }

  private recorded(at: number): void {
    this.tell(recorded(this.state, at));
  }

  private writes(entry: Entry, cause = 'fenced'): void {
    Object.assign(this.own, { phase: 'writing', writes: { entry, place: this.copy.log.length, cause } });
  }

  /** The answer of a send that is given up has no place of its own; anything else is written where the log was read up to. */
  write(): void {
    const { copy, own } = this;
    const { entry, place, cause = 'fenced' } = own.writes as NonNullable<Caller['writes']>;
    const mayMove = entry.kind === 'answer' || (entry.kind === 'fence' && !this.rules.fenceLooks);
    Object.assign(own, { phase: 'reconcile', writes: null });
    if (copy.log.length !== place && !mayMove) return;
    copy.log = [...copy.log, entry];
    const { unknown, sends } = this.state;
    if (entry.kind === 'lost') return this.recorded(unknown ?? sends.length - 1);
    // What was recorded meanwhile is read again.
    if (entry.kind === 'fence') this.tell(unsent(cause));
  }

  /** The entry stands there, and the writer does not hear of it. */
  writeUnheard(): void {
    const { copy, own } = this;
    const { entry, place } = own.writes as NonNullable<Caller['writes']>;
    if (copy.log.length === place) copy.log = [...copy.log, entry];
    Object.assign(own, { phase: 'reconcile', writes: null });
  }
}

const recorded = (state: KeyState, at: number): CreateVideoAnswer =>
  ({ ...recordedAnswer(state, at), sent: true }) as CreateVideoAnswer;
