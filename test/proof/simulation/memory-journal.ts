import {
  type CreateJournal,
  type SendAttemptView,
  isUndecided,
  type JournalKey,
  type OutcomeRecord,
  type Resolution,
  type Claim,
  type TaskIndexEntry,
} from '../../../src/domain/journal';
import { type Ledger } from './ledger';
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

interface Cell {
  claim: Claim | null;
  outcome: OutcomeRecord | null;
  resolution: Resolution | null;
}
/** After how many events of the schedule each of them was written. */
type Written = Partial<Record<keyof Cell, number>>;

/**
 * A linearizable store of records (assumption A1) behind a network that loses, delays and repeats. Each object is
 * written at one moment; a view of a send attempt is several reads, and anything may happen between them.
 */
export class MemoryJournal implements CreateJournal {
  readonly kind = 's3';
  private readonly cells = new Map<string, Cell>();
  private readonly written = new Map<Cell, Written>();
  private readonly entries: { readonly entry: TaskIndexEntry; readonly written: number }[] = [];

  constructor(
    private readonly faults: StoreFaults,
    private readonly ledger: Ledger,
    readonly journalId: string,
    /** Copies of one journal have its id, and each a life of its own. */
    readonly life: number,
  ) {}

  /** A copy that somebody kept when the schedule had so many events. */
  copyOf(events: number, life: number): MemoryJournal {
    const copy = new MemoryJournal(this.faults, this.ledger, this.journalId, life);
    for (const [name, cell] of this.cells) {
      const written = this.written.get(cell) ?? {};
      const then = <Name extends keyof Cell>(what: Name): Cell[Name] | null =>
        (written[what] ?? Infinity) <= events ? cell[what] : null;
      const kept = { claim: then('claim'), outcome: then('outcome'), resolution: then('resolution') };
      copy.cells.set(name, kept);
      copy.written.set(kept, written);
    }
    copy.entries.push(...this.entries.filter((one) => one.written <= events));
    return copy;
  }

  /** Outcomes that it holds. */
  recorded(): Ledger['recorded'] {
    return [...this.cells].flatMap(([name, { outcome }]) => {
      const [key = '', sendAttempt] = name.split('#');
      return outcome === null ? [] : [{ key, sendAttempt: Number(sendAttempt), record: outcome }];
    });
  }

  /** What is really there, for the audit. */
  cell({ creationKey }: JournalKey, sendAttempt: number): Cell {
    const name = `${creationKey}#${sendAttempt}`;
    let cell = this.cells.get(name);
    if (cell === undefined) this.cells.set(name, (cell = { claim: null, outcome: null, resolution: null }));
    return cell;
  }

  /** The outcome first and the claim last, as the file journal does: no view has an outcome without its claim. */
  async read(key: JournalKey, sendAttempt: number): Promise<SendAttemptView> {
    const cell = this.cell(key, sendAttempt);
    const resolution = await this.get(() => cell.resolution);
    const outcome = await this.get(() => cell.outcome);
    const claim = await this.get(() => cell.claim);
    return resolution === null ? { claim, outcome } : { claim, outcome, resolution };
  }

  putClaim(key: JournalKey, sendAttempt: number, claim: Claim): Promise<'won' | 'lost'> {
    return this.put(`claim ${sendAttempt} ${claim.kind}`, key, this.cell(key, sendAttempt), 'claim', claim);
  }

  putOutcome(key: JournalKey, sendAttempt: number, outcome: OutcomeRecord): Promise<'won' | 'lost'> {
    return this.put(
      `outcome ${sendAttempt} ${outcome.answer.outcome}`,
      key,
      this.cell(key, sendAttempt),
      'outcome',
      outcome,
    );
  }

  putResolution(key: JournalKey, sendAttempt: number, resolution: Resolution): Promise<'won' | 'lost'> {
    const what = `resolution ${sendAttempt} ${resolution.decision}`;
    return this.put(what, key, this.cell(key, sendAttempt), 'resolution', resolution);
  }

  private get<T>(look: () => T): Promise<T> {
    const time = currentTime();
    const caller = time.current;
    const trouble = this.trouble(['lost', 'slow']);
    const there = trouble === 'slow' ? time.random.between(1_000, 40_000) : time.random.between(0, 2);
    return new Promise((resolve, reject) => {
      time.after(there, caller, () => {
        if (trouble === 'lost') reject(new Error('the store did not answer'));
        else resolve(look());
      });
    });
  }

  private put<Name extends keyof Cell>(
    what: string,
    key: JournalKey,
    cell: Cell,
    name: Name,
    value: Exclude<Cell[Name], null>,
  ): Promise<'won' | 'lost'> {
    const time = currentTime();
    const { random } = time;
    const caller = time.current;
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
        if (cell[name] !== null) return 'lost';
        cell[name] = value;
        this.written.set(cell, { ...this.written.get(cell), [name]: time.events });
        if (name === 'resolution') this.noteDecision(key, value as Resolution, cell.claim?.nonce ?? '');
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
    this.ledger.journalFaults += 1;
    return random.pick(kinds);
  }

  /** A decision counts from the moment at which the store holds it, whoever was told. */
  private noteDecision(
    { creationKey: key }: JournalKey,
    { decision, by, answer }: Resolution,
    about: string,
  ): void {
    if (answer?.outcome === 'created') this.ledger.adopted.push({ key, taskId: answer.video.taskId });
    if (decision !== 'resubmit') this.ledger.decided.add(key);
    // What a person authorised counts for the send that was looked into, and once.
    else if (by === 'task records' || this.ledger.resubmits.delete(about))
      this.ledger.authorised.push({ key, at: currentTime().now });
  }

  /** The newest send under this key that nobody has decided about. */
  undecided(key: string): string | undefined {
    return [...this.cells]
      .filter(([name, cell]) => name.startsWith(`${key}#`) && isUndecided(cell))
      .at(-1)?.[1].claim?.nonce;
  }

  /** The nonce of the intent that was written then. */
  nonceOf(intentAt: string): string | undefined {
    return [...this.cells.values()].find(({ claim }) => claim?.kind === 'intent' && claim.at === intentAt)
      ?.claim?.nonce;
  }

  async indexTask(entry: TaskIndexEntry): Promise<void> {
    await currentTime().pause(1);
    this.entries.push({ entry, written: currentTime().events });
  }

  findOpenByBody(): Promise<readonly []> {
    return Promise.resolve([]);
  }

  forgetOpen(): Promise<void> {
    return Promise.resolve();
  }

  async findTask(taskId: string): Promise<readonly TaskIndexEntry[]> {
    await currentTime().pause(1);
    return this.entries.flatMap(({ entry }) => (entry.video.taskId === taskId ? [entry] : []));
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
