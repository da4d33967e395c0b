import { type CreateJournal, type TaskIndexEntry } from '../../../src/domain/journal';
import {
  type DecisionEntry,
  isOpenAnswer,
  type JournalKey,
  type LogEntry,
  type Send,
} from '../../../src/domain/log-entries';
import { stateOf } from '../../../src/domain/paid-log';
import { type Observations } from './observations';
import { currentTime } from './virtual-globals';

/** What one call to the store may do besides working. */
type Trouble =
  /** Never applied; the caller is told of an error. */
  | 'lost'
  /** Applied; the caller is told of an error. */
  | 'ambiguous'
  /** The caller is told of an error, and the store applies it long after. */
  | 'late'
  /** Applied by a try that the store's client repeated: the caller is told that somebody else was first. */
  | 'echo'
  /** Takes its time. */
  | 'slow'
  | 'none';

export interface StoreFaults {
  /** Probability of trouble per call. */
  probability: number;
  /** Calls that may still meet trouble: an outage ends. */
  left: number;
  /** Longest time until a late write is applied, in milliseconds. */
  readonly latestMs: number;
}

interface Written {
  readonly entry: LogEntry;
  /** After how many events of the schedule. */
  readonly at: number;
}

/**
 * A linearizable store of logs (assumption A1) behind a network that loses, delays and repeats. Each entry is written at
 * one moment, and what a reader gets may be old when it arrives.
 */
export class MemoryJournal implements CreateJournal {
  readonly kind = 's3';
  private readonly logs = new Map<string, Written[]>();
  private readonly tasks: { readonly entry: TaskIndexEntry; readonly written: number }[] = [];

  constructor(
    private readonly faults: StoreFaults,
    private readonly observations: Observations,
    readonly journalId: string,
    /** Copies of one journal have its id, and each a life of its own. */
    readonly life: number,
  ) {}

  /** A copy that somebody kept when the schedule had so many events. */
  copyOf(events: number, life: number): MemoryJournal {
    const copy = new MemoryJournal(this.faults, this.observations, this.journalId, life);
    for (const [key, log] of this.logs)
      copy.logs.set(
        key,
        log.filter(({ at }) => at <= events),
      );
    copy.tasks.push(...this.tasks.filter(({ written }) => written <= events));
    return copy;
  }

  /** Answers that it holds. */
  recorded(): Observations['recorded'] {
    return [...this.logs].flatMap(([key, log]) =>
      log.flatMap(({ entry }) => (entry.kind === 'answer' ? [{ key, record: entry }] : [])),
    );
  }

  /** What is really there. */
  private logOf({ creationKey }: JournalKey): Written[] {
    let log = this.logs.get(creationKey);
    if (log === undefined) this.logs.set(creationKey, (log = []));
    return log;
  }

  read(key: JournalKey): Promise<readonly LogEntry[]> {
    const time = currentTime();
    const caller = time.current;
    const log = this.logOf(key);
    const trouble = this.trouble(['lost', 'slow']);
    const there = trouble === 'slow' ? time.random.between(1_000, 40_000) : time.random.between(0, 2);
    const back = trouble === 'slow' ? time.random.between(1_000, 40_000) : time.random.between(0, 2);
    return new Promise((resolve, reject) => {
      time.after(there, time.world, () => {
        const entries = log.map(({ entry }) => entry);
        time.after(back, caller, () => {
          if (trouble === 'lost') reject(new Error('the store did not answer'));
          else resolve(entries);
        });
      });
    });
  }

  append(key: JournalKey, n: number, entry: LogEntry): Promise<'won' | 'lost'> {
    const time = currentTime();
    const { random } = time;
    const caller = time.current;
    const log = this.logOf(key);
    const what = `${entry.kind} at ${n}${entry.kind === 'answer' ? ` ${entry.answer.outcome}` : ''}`;
    const trouble = this.trouble(['lost', 'ambiguous', 'late', 'echo', 'slow']);
    const there = trouble === 'slow' ? random.between(1_000, 40_000) : random.between(0, 3);
    return new Promise((resolve, reject) => {
      const answer = (told: 'won' | 'lost' | 'error'): void => {
        time.after(random.between(0, 3), caller, () => {
          time.say(() => `journal: ${what}: ${told}${trouble === 'none' ? '' : ` (${trouble})`}`);
          if (told === 'error') reject(new Error('the store did not answer'));
          else resolve(told);
        });
      };
      const apply = (): 'won' | 'lost' => {
        if (n < log.length) return 'lost';
        if (n > log.length) throw new Error(`${what} would leave a hole`);
        log.push({ entry, at: time.events });
        if (entry.kind === 'decision') this.noteDecision(key, entry);
        time.say(() => `the store holds ${what}`);
        return 'won';
      };
      if (trouble === 'late')
        time.after(random.between(1, this.faults.latestMs), time.world, () => void apply());
      time.after(there, time.world, () => {
        if (trouble === 'lost' || trouble === 'late') return answer('error');
        const applied = apply();
        answer(trouble === 'ambiguous' ? 'error' : trouble === 'echo' ? 'lost' : applied);
      });
    });
  }

  private trouble(kinds: readonly Trouble[]): Trouble {
    const { random } = currentTime();
    if (this.faults.left === 0 || !random.chance(this.faults.probability)) return 'none';
    this.faults.left -= 1;
    this.observations.journalFaults += 1;
    return random.pick(kinds);
  }

  /** A decision counts from the moment at which the store holds it, whoever was told. */
  private noteDecision(
    { creationKey: key }: JournalKey,
    { about, decision, by, answer }: DecisionEntry,
  ): void {
    if (answer?.outcome === 'created') this.observations.adopted.push({ key, taskId: answer.video.taskId });
    if (decision !== 'resubmit') this.observations.decided.add(key);
    // What a person authorised counts for the send that was looked into, and once.
    else if (this.observations.mayResubmit(about, by))
      this.observations.authorised.push({ key, at: currentTime().now });
  }

  /** The newest send under this key that nobody has decided about. */
  undecided(creationKey: string): string | undefined {
    const { sends } = stateOf((this.logs.get(creationKey) ?? []).map(({ entry }) => entry));
    const isOpen = ({ answer, decision }: Send): boolean =>
      decision === null && (answer === null || isOpenAnswer(answer.answer));
    return sends.findLast(isOpen)?.sent.nonce;
  }

  /** The nonce of the intent that was written then. */
  nonceOf(intentAt: string): string | undefined {
    const entries = [...this.logs.values()].flat().map(({ entry }) => entry);
    const intent = entries.find((entry) => entry.kind === 'intent' && entry.at === intentAt);
    return intent?.kind === 'intent' ? intent.nonce : undefined;
  }

  async indexTask(entry: TaskIndexEntry): Promise<void> {
    await currentTime().pause(1);
    this.tasks.push({ entry, written: currentTime().events });
  }

  findOpenByBody(): Promise<readonly []> {
    return Promise.resolve([]);
  }

  forgetOpen(): Promise<void> {
    return Promise.resolve();
  }

  async findTask(taskId: string): Promise<readonly TaskIndexEntry[]> {
    await currentTime().pause(1);
    return this.tasks.flatMap(({ entry }) => (entry.video.taskId === taskId ? [entry] : []));
  }

  identity(): never {
    throw new Error('The simulation binds no journal.');
  }

  sealingKey(): never {
    throw new Error('The simulation has no links to seal.');
  }

  putMark(): never {
    throw new Error('The simulation binds no journal.');
  }

  hasMark(): never {
    throw new Error('The simulation binds no journal.');
  }

  checkWritable(): never {
    throw new Error('The simulation starts no worker.');
  }

  readRecord(): never {
    throw new Error('The simulation knows no campaign.');
  }

  putRecord(): never {
    throw new Error('The simulation knows no campaign.');
  }

  scan(): never {
    throw new Error('The simulation lists nothing.');
  }
}
