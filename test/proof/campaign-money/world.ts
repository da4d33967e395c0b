import { emptyBook, type BookEntry } from '../../../src/domain/campaign/budget-book';
import { type Random } from '../simulation/random';

/** What each actor does between two moments at which anything else may happen, or a fault strike. */
export type Steps<Result = void> = Generator<undefined, Result, undefined>;

/** The rules of the book, each of which can be left out to see what it is for. */
export interface Rules {
  /** A closed batch sends nothing, however late. */
  readonly fence: boolean;
  /** An entry of the book is written once, after the one that its writer knows. */
  readonly createIfAbsent: boolean;
  /** What has cost nothing is given back by whoever wins its record. */
  readonly freeRecord: boolean;
  /** It is taken off for a payer that is closed; one that is open leaves it out itself. */
  readonly deductsClosedOnly: boolean;
  /** Whether it is taken off is decided when the record is put, and never later. */
  readonly decidesOnce: boolean;
  /** Only the first run of a batch sends, and only its word counts for what was spent. */
  readonly owner: boolean;
  /** Whoever settles a batch waits for its sends in flight. */
  readonly waitsForSends: boolean;
  /** Whoever goes on settles what others have left open. */
  readonly takesOver: boolean;
  /** A bill of a send in flight is not counted before its outcome is known. */
  readonly waitsForOutcome: boolean;
  /** A close that gives back a charge with a bill says so in the same entry. */
  readonly returnsBilled: boolean;
  /** A count of bills is written only if the amount is what it was when the count began. */
  readonly countsUnchanged: boolean;
  /** Bills are counted before a campaign ends with skipped rows. */
  readonly countsAtTheEnd: boolean;
}

export const ALL_RULES: Rules = {
  fence: true,
  createIfAbsent: true,
  freeRecord: true,
  deductsClosedOnly: true,
  decidesOnce: true,
  owner: true,
  waitsForSends: true,
  takesOver: true,
  waitsForOutcome: true,
  returnsBilled: true,
  countsUnchanged: true,
  countsAtTheEnd: true,
};

/** One request that was about to be sent. It costs 1. */
export interface Intent {
  readonly payer: number;
  /** `none`: proven that nothing was accepted. Null: nobody knows, or not yet. */
  outcome: 'created' | 'none' | null;
  /** Its task will fail, and cost nothing. */
  fails: boolean;
  /** Somebody has seen that. */
  isFree: boolean;
  /** The service has taken it. */
  isAccepted: boolean;
  /** The newest bill, and the one that the book counts. */
  bill: number | null;
  counted: number | null;
  /** Step at which the newest bill arrived. */
  billedAt: number;
}

export type Claim = Intent | 'fence';

export interface Create {
  readonly row: string;
  readonly batch: number;
  readonly run: number;
  at: number;
  intent: Intent | null;
  done: 'closed' | 'refused' | Intent | null;
  /** Its worker was killed. */
  isLost: boolean;
}

export interface Batch {
  readonly n: number;
  readonly rows: readonly string[];
  granted: number;
  /** Of its workflow: a reset begins another. */
  run: number;
  isDead: boolean;
  handBack: boolean;
  /** It waits for money. */
  needs: boolean;
  end: BatchEnd | null;
}

export interface BatchEnd {
  readonly run: number;
  readonly spent: number;
  readonly left: readonly string[];
  readonly handedBack: boolean;
  /** Send attempts that turned out to have cost nothing. */
  readonly free: readonly string[];
}

export interface Actor {
  readonly steps: Steps;
  readonly create?: Create;
}

/** The journal, the service and everybody who is at work. */
export class World {
  /** By row and place in its log. */
  readonly claims = new Map<string, Claim>();
  readonly entries: BookEntry[] = [];
  readonly batchRows = new Map<number, readonly string[]>();
  readonly fences = new Set<number>();
  readonly owners = new Map<number, number>();
  readonly free = new Map<string, { readonly by: number; readonly deducts: boolean }>();
  /** Send attempts of which the results say that they have cost nothing. */
  readonly unpaid = new Set<string>();
  readonly actors = new Set<Actor>();
  /** What it has cost: bills that the book counts, and otherwise what the service took and nobody has seen fail. */
  cost = 0;
  /** By how much bills have made it dearer. No budget can prevent that. */
  risen = 0;
  steps = 0;
  /** Step of the last close. */
  closedAt = 0;

  constructor(
    readonly random: Random,
    readonly rules: Rules,
    readonly rows: readonly string[],
    readonly budget: number,
    readonly batchSize: number,
    /** Nothing is refused, and nothing fails. */
    readonly isPerfect: boolean,
  ) {}

  spawn(steps: Steps, create?: Create): void {
    this.actors.add({ steps, ...(create && { create }) });
  }

  newest(): { readonly n: number; readonly book: BookEntry } {
    return { n: this.entries.length - 1, book: this.entries.at(-1) ?? emptyBook(0) };
  }

  /** Changes a send, and what it has cost. */
  change(intent: Intent, change: Partial<Pick<Intent, 'isAccepted' | 'isFree' | 'counted'>>): void {
    const before = costOf(intent);
    Object.assign(intent, change);
    this.cost += costOf(intent) - before;
    if ('counted' in change) this.risen += Math.max(0, costOf(intent) - before);
  }

  /** Whether somebody is still about to say what this came to. */
  isUnderWay(intent: Intent): boolean {
    if (intent.outcome !== null) return false;
    for (const { create } of this.actors) if (create?.intent === intent) return true;
    return false;
  }

  /** Who may send for a batch: the first run that wants to. */
  ownerOf(batch: number, run: number): number {
    const owner = this.owners.get(batch) ?? run;
    this.owners.set(batch, owner);
    return owner;
  }
}

/** Now and then nobody is there to do it for a long while. */
export function* waits({ random }: World): Steps {
  yield;
  for (let left = random.chance(0.15) ? random.between(1, 150) : 0; left > 0; left -= 1) yield;
}

export function costOf({
  counted,
  isAccepted,
  isFree,
}: Pick<Intent, 'counted' | 'isAccepted' | 'isFree'>): number {
  return counted ?? (isAccepted && !isFree ? 1 : 0);
}

export const placeOf = (row: string, at: number): string => `${row}/${at}`;

/** Whether the send may have cost something. */
export const wasCharged = (claim: Claim | undefined): claim is Intent =>
  claim !== undefined && claim !== 'fence' && claim.outcome !== 'none';
