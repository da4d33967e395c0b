import { type RowPhase } from '../../domain/campaign/batch-messages';
import { type OpenedPage, type OpenedRow, type RowSpec } from '../../domain/campaign/campaign-activities';
import { type CampaignRowResult, type LedgerLine } from '../../domain/campaign/row';
import { isBooked, type RowFacts } from '../../domain/campaign/row-result';
import { partOf, rowNumbers, type RowSet } from '../../domain/campaign/row-sets';
import { type CreateOnceState } from '../../domain/create-once';
import { rowCreationKey } from '../../domain/creation-key';
import { type CreatedVideo } from '../../domain/paid-call';
import { type WatchState } from '../../domain/watch-state';

/** The rows on one page that belong to this batch. */
export class OpenSet {
  opened: OpenedPage | null = null;
  opening = false;
  private created = new Map<number, CreatedVideo>();
  /** Whether rows that were already bought have been started. */
  sought = false;
  private readonly rows: readonly number[];
  /** Index into `rows` of the next row to start in order. Rows that were already bought start out of order. */
  private next = 0;
  private readonly ahead = new Set<number>();
  /** Rows whose results are in a segment. */
  private readonly reported = new Set<number>();

  constructor(readonly set: RowSet) {
    this.rows = rowNumbers(set);
  }

  open({ created = [], ...page }: OpenedPage): void {
    this.opened = page;
    this.created = new Map(created);
  }

  /** Returns the created video of a row that was started earlier. Returned only once, because it is large. */
  takeCreated(row: number): CreatedVideo | undefined {
    const created = this.created.get(row);
    this.created.delete(row);
    return created;
  }

  nextRow(): number | undefined {
    if (this.opened === null) return undefined;
    for (; this.next < this.rows.length; this.next += 1) {
      const row = this.rows[this.next] as number;
      if (!this.ahead.has(row)) return row;
    }
    return undefined;
  }

  begin(row: number): void {
    this.ahead.add(row);
  }

  row(index: number): { readonly opened: OpenedRow; readonly spec: RowSpec } {
    const opened = this.opened?.rows[index];
    const spec = opened ? this.opened?.specs[opened.spec] : undefined;
    if (!opened || spec === undefined) throw new Error(`Page ${this.set.page} has no row ${index}`);
    return { opened, spec };
  }

  unstarted(): number[] {
    return this.rows.filter((row) => !this.ahead.has(row));
  }

  remaining(): number {
    return this.rows.length - this.ahead.size;
  }

  markReported(row: number): void {
    this.reported.add(row);
  }

  ended(): RowSet | undefined {
    if (this.reported.size === this.rows.length) return this.set;
    return partOf(this.set, [...this.reported]);
  }

  /**
   * Returns the rows without a result. Rows that may be in the journal are in separate sets.
   * @param isStarted whether a row that was started here may have been bought
   * @param polledAt the latest time when they may have been polled, in workflow time
   */
  left(isStarted: (row: number) => boolean, polledAt: number): RowSet[] {
    const left = this.rows.filter((row) => !this.reported.has(row));
    const bought = (row: number) => (this.ahead.has(row) ? isStarted(row) : this.set.started !== undefined);
    const started = partOf(this.set, left.filter(bought), Math.max(polledAt, this.set.started ?? 0));
    const fresh = partOf(
      this.set,
      left.filter((row) => !bought(row)),
    );
    return [started ?? [], fresh ?? []].flat();
  }
}

/** A batch's pages, in the order of its row sets. */
export class BatchPages {
  readonly all: readonly OpenSet[];

  constructor(sets: readonly RowSet[]) {
    this.all = sets.map((set) => new OpenSet(set));
  }

  unopened(): OpenSet[] {
    return this.all.filter(({ opened, opening }) => opened === null && !opening);
  }

  areOpen(): boolean {
    return this.all.every(({ opened }) => opened !== null);
  }

  unstarted(): number {
    return this.all.reduce((sum, set) => sum + set.remaining(), 0);
  }

  nextRow(): { readonly set: OpenSet; readonly index: number } | undefined {
    for (const set of this.all) {
      const index = set.nextRow();
      if (index !== undefined) return { set, index };
    }
    return undefined;
  }

  ended(): RowSet[] {
    return this.all.flatMap((set) => set.ended() ?? []);
  }
}

/**
 * A row in flight. It is mutable, because a batch has hundreds of rows and one thread. Times are workflow time in
 * milliseconds.
 */
export interface Row {
  readonly set: OpenSet;
  readonly index: number;
  readonly opened: OpenedRow;
  readonly spec: RowSpec;
  readonly startedAt: number;
  phase: RowPhase;
  attempt: number;
  notBefore: number;
  /** Money taken for this attempt, in micro-units. */
  cost: number;
  /** The last attempt found in the journal; -1 if there is none. */
  started: number;
  create: CreateOnceState | null;
  created: Pick<CreatedVideo, 'video' | 'estimate' | 'warnings' | 'mayBeOwed'> | null;
  watch: { readonly state: WatchState } | null;
  /** Finished attempts, including those from earlier plans. */
  ledger: readonly LedgerLine[];
  /** The previous attempt's result, which counts if no other attempt follows. */
  last: CampaignRowResult | null;
}

export function newRow(set: OpenSet, index: number, now: number): Row {
  const { opened, spec } = set.row(index);
  return {
    set,
    index,
    opened,
    spec,
    startedAt: (set.set.started === undefined ? undefined : sinceOf(opened)) ?? now,
    phase: 'waiting',
    attempt: opened.attempt ?? 0,
    notBefore: 0,
    cost: 0,
    started: opened.started ?? -1,
    create: null,
    created: null,
    watch: null,
    ledger: opened.was?.ledger ?? [],
    last: null,
  };
}

/**
 * Returns when the row's last started attempt was sent, in milliseconds, so that a hand-back does not extend its
 * deadline.
 */
export function sinceOf({ since }: Pick<OpenedRow, 'since'>): number | undefined {
  return since === undefined ? undefined : Date.parse(since);
}

/** Whether this attempt was started earlier. If so, it is looked up and nothing is sent for it. */
export function isStarted({ attempt, started }: Pick<Row, 'attempt' | 'started'>): boolean {
  return attempt <= started;
}

export function creationKeyOf(campaign: string, row: Row): string {
  return rowCreationKey(campaign, row.opened, row.attempt);
}

/** Whether this attempt is in the books of an earlier plan. */
export function isBought(campaign: string, row: Row): boolean {
  return isBooked(row.ledger, creationKeyOf(campaign, row));
}

/** Returns the amount that this attempt takes from its batch's budget. */
export function costOfRow(campaign: string, row: Row): number {
  return isBought(campaign, row) ? 0 : (row.spec.estimate ?? 0);
}

export function factsOf(campaign: string, row: Row): RowFacts {
  return {
    opened: row.opened,
    spec: row.spec,
    generation: row.set.set.generation,
    page: row.set.set.page,
    index: row.index,
    attempt: row.attempt,
    creationKey: creationKeyOf(campaign, row),
    ledger: row.ledger,
    startedAt: row.startedAt,
  };
}

/**
 * Returns the key of a row's limit. Calls with the same model and account share a limit, because the service limits its
 * capacity for each account and model.
 */
export function limitKeyOf(row: Row): string {
  return `${row.spec.account ?? ''} ${row.spec.model}`;
}
