import {
  type AnswerEntry,
  type DecisionEntry,
  isOpenAnswer,
  type LogEntry,
} from '../../../src/domain/log-entries';
import { type LogCaller } from '../../../src/domain/paid-log';
import { type Broken, ruleWith } from './rules';

/** Where a heartbeat says that an intent stands. */
export interface Announced {
  readonly journal: string;
  readonly place: number;
  readonly nonce: string;
}

export interface Journal {
  readonly id: string;
  readonly log: LogEntry[];
  /** Step at which the queue was bound to it. */
  readonly since: number;
}

/** What an activity or a reconciliation says to its workflow. */
export type Said =
  | 'created'
  | 'unconfirmed'
  | 'refused_for_now'
  | 'refused_for_good'
  | 'declared_lost'
  | 'not_sent'
  | 'pending'
  | 'conflict';

/** A create activity. An operator's reset hands it out again: its `turn` grows, its id stays. */
export interface Activity {
  readonly id: string;
  readonly run: Run;
  /** Step at which it was scheduled. */
  readonly at: number;
  /** Step at which its newest try was scheduled. */
  attemptAt: number;
  isOpen: boolean;
  turn: number;
  heartbeat: Announced | null;
  /** Who said of it that it has not sent. */
  toldNotSent: 'itself' | 'reconciliation' | null;
  wasAccepted: boolean;
  process: Process | null;
}

export interface Run {
  readonly id: string;
  readonly fingerprint: string;
  /** A person wants the request sent again that an earlier run was refused for. */
  readonly again: boolean;
  /** Its activities try again by themselves, as those for images do. */
  readonly retries: boolean;
  readonly activities: Activity[];
  readonly decisions: DecisionEntry[];
  state: 'idle' | 'creating' | 'timed_out' | 'reconciling' | 'ended';
  outcome: Said | 'terminated' | null;
  refusals: number;
}

/** A piece of work that a schedule interleaves with others, step by step, and kills anywhere. */
export interface Process {
  readonly work: Iterator<void>;
  readonly activity: Activity | null;
  isDead: boolean;
}

const STEP_MS = 1_000;

/** The time of a step (ISO 8601). */
export function timeOf(step: number): string {
  return (TIMES[step] ??= new Date(step * STEP_MS).toISOString());
}
const TIMES: string[] = [];

/** Steps within which every worker hears of a new binding. */
export const BINDING_KNOWN_WITHIN = 15;

/** Everything that one schedule happens in: journals, workflows, processes, and what the service has accepted. */
export class World {
  readonly rule;
  /** A server that was set back or failed over may answer for an activity that it has closed. */
  readonly isSplit: boolean;
  readonly earlier: Journal[] = [];
  readonly runs: Run[] = [];
  /** Those that live, in the order in which they began. */
  readonly living: Process[] = [];
  readonly accepted: string[] = [];
  /** What was seen to go wrong while it went wrong. */
  readonly problems = new Set<string>();
  journal: Journal = { id: 'J0', log: [], since: 0 };
  bound = 'J0';
  authorised = 1;
  steps = 0;
  /** The journal has lost entries, by a replacement or an older copy. */
  hasLost = false;
  isRestored = false;
  /** Set back between a read and an append, and grown again: the place that was read is one of another log (A1). */
  isShifted = false;
  /** An operator's reset has cleared a heartbeat. */
  isCleared = false;
  private ids = 0;

  constructor(
    readonly random: () => number,
    readonly broken: Broken,
  ) {
    this.rule = ruleWith(broken);
    this.isSplit = this.chance(0.1);
  }

  chance(probability: number): boolean {
    return this.random() < probability;
  }

  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.random() * from.length)] as T;
  }

  nonce(): string {
    return `n${this.ids++}`;
  }

  isAlive(test: (activity: Activity) => boolean): boolean {
    return this.living.some(({ activity }) => activity !== null && test(activity));
  }

  spawn(work: Iterator<void>, activity: Activity | null = null): Process {
    const process = { work, activity, isDead: false };
    this.living.push(process);
    return process;
  }

  step(process: Process): void {
    if (process.work.next().done === true) this.kill(process);
  }

  kill(process: Process): void {
    process.isDead = true;
    this.living.splice(this.living.indexOf(process), 1);
  }

  /**
   * Create-if-absent: the entry stands at its place, or another one does.
   * @param behind the entry before it, as it was read
   */
  append(journal: Journal, place: number, entry: LogEntry, behind?: LogEntry): boolean {
    if (place !== journal.log.length) return false;
    if (behind !== undefined && behind !== journal.log[place - 1]) this.isShifted = true;
    if (entry.kind === 'intent') this.checkDecided(journal.log);
    journal.log.push(entry);
    return true;
  }

  /** Nothing is sent before each send of unknown fate has its own decision. */
  private checkDecided(log: readonly LogEntry[]): void {
    const isUndecided = this.rule
      .stateOf(log)
      .sends.some(
        ({ sent, answer, decision }) =>
          decision === null && (answer === null ? sent.kind === 'lost' : isOpenAnswer(answer.answer)),
      );
    if (isUndecided && !this.isRestored)
      this.problems.add('an intent stands behind a send of unknown fate without a decision');
  }

  /** Whether a log has the intent that was announced, at its place: an answer or a note about it is not enough. */
  holds(journal: Journal, log: readonly LogEntry[], { journal: id, place, nonce }: Announced): boolean {
    const entry = log[place];
    if (id !== journal.id || entry === undefined || !('nonce' in entry) || entry.nonce !== nonce)
      return false;
    return entry.kind === 'intent' || this.broken === 'any_entry_holds';
  }

  /** Whether a worker may not yet have heard of the binding when the activity was scheduled. */
  isTooNew({ since }: Journal, { at }: Activity): boolean {
    const heard = this.broken === 'binding_heard_at_once' ? 0 : BINDING_KNOWN_WITHIN;
    return since > 0 && since + heard > at;
  }

  /** Whether this activity has sent, in any of its tries. */
  hasSent(log: readonly LogEntry[], sender: string): boolean {
    const own = log.filter((entry) => entry.kind === 'intent' && entry.sender === sender);
    const looked = this.broken === 'first_intent_only' ? own.slice(0, 1) : own;
    return looked.some((entry) => {
      const answer = log.find(
        (other): other is AnswerEntry =>
          other.kind === 'answer' && 'nonce' in entry && other.nonce === entry.nonce,
      );
      return answer?.answer.outcome !== 'not_sent';
    });
  }

  /** An activity, as the rule sees it: a step takes a second. */
  caller({ id, run, attemptAt }: Activity): LogCaller {
    const { fingerprint, again, retries } = run;
    const time = { attemptAt: timeOf(attemptAt), now: this.steps * STEP_MS };
    return { sender: id, runId: run.id, fingerprint, again, retries, ...time };
  }

  startRun(fingerprint: string): Run {
    const id = `r${this.runs.length}`;
    const run: Run = {
      id,
      fingerprint,
      activities: [],
      decisions: [],
      again: this.runs.length > 0 && this.chance(0.2),
      retries: this.chance(0.3),
      state: 'idle',
      outcome: null,
      refusals: 0,
    };
    this.runs.push(run);
    return run;
  }
}
