import { given } from '../json';
import { arrayOf, type Check, messageOf, must, name, number, optional, whole } from '../shape';
import { PAGE_ROWS } from './plan';

/** Rows from one page of a plan: all of them, or those in `rows`. */
export interface RowSet {
  /** SHA-256 of the plan's index artifact. */
  readonly index: string;
  readonly page: number;
  readonly generation: number;
  readonly size: number;
  /** Row numbers, packed by {@link packRows}. @default all rows of the page */
  readonly rows?: string;
  /**
   * Set if a batch started the rows and handed them back, so the journal contains their purchases. The value is the
   * latest time at which that batch may have polled them, in milliseconds of workflow time.
   */
  readonly started?: number;
}

/** Maximum number of row sets in a message. A batch can have a single row from each of many pages. */
const MAX_SETS = 10_000;

const rowSetCheck: Check<RowSet> = messageOf({
  index: name(),
  page: whole(0),
  generation: whole(0),
  size: whole(0, PAGE_ROWS),
  rows: optional(must('row numbers as hexadecimal digits', isPacked)),
  started: optional(number),
});

export const rowSetsCheck: Check<readonly RowSet[]> = arrayOf(rowSetCheck, MAX_SETS);

function isPacked(value: unknown): boolean {
  return typeof value === 'string' && value.length <= PAGE_ROWS / 4 && /^[0-9a-f]*$/.test(value);
}

/** Whether the rows can have earlier results. Only the rows of the first plan (generation 0) cannot. */
export function replacesResults({ generation }: Pick<RowSet, 'generation'>): boolean {
  return generation > 0;
}

/** Encodes a page's row numbers as hexadecimal digits, with four rows per digit. */
export function packRows(rows: Iterable<number>): string {
  const nibbles: number[] = [];
  for (const row of rows) {
    const place = row >> 2;
    while (nibbles.length <= place) nibbles.push(0);
    nibbles[place] = (nibbles[place] ?? 0) | (1 << (row & 3));
  }
  return nibbles.map((nibble) => nibble.toString(16)).join('');
}

export function unpackRows(packed: string): Set<number> {
  const rows = new Set<number>();
  [...packed].forEach((digit, place) => {
    const nibble = parseInt(digit, 16);
    for (let bit = 0; bit < 4; bit += 1) if ((nibble & (1 << bit)) !== 0) rows.add(place * 4 + bit);
  });
  return rows;
}

export function rowsOf<Row>({ rows }: Pick<RowSet, 'rows'>, page: readonly Row[]): readonly Row[] {
  if (rows === undefined) return page;
  const places = unpackRows(rows);
  return page.filter((_, place) => places.has(place));
}

export function sizeOf(sets: readonly Pick<RowSet, 'size'>[]): number {
  return sets.reduce((sum, { size }) => sum + size, 0);
}

export function rowNumbers({ rows, size }: RowSet): readonly number[] {
  return rows === undefined ? Array.from({ length: size }, (_, row) => row) : [...unpackRows(rows)];
}

/** Returns the subset with these row numbers, or undefined if there are none. @param started see {@link RowSet} */
export function partOf(set: RowSet, rows: readonly number[], started?: number): RowSet | undefined {
  const { index, page, generation } = set;
  if (rows.length === 0) return undefined;
  return { index, page, generation, size: rows.length, rows: packRows(rows), ...given({ started }) };
}

export function without(sets: readonly RowSet[], others: readonly RowSet[]): RowSet[] {
  return sets.flatMap((set) => {
    const ofPage = others.filter(({ index, page }) => index === set.index && page === set.page);
    const gone = new Set(ofPage.flatMap(rowNumbers));
    const left = rowNumbers(set).filter((row) => !gone.has(row));
    return gone.size === 0 ? [set] : (partOf(set, left, set.started) ?? []);
  });
}

function splitRows(set: RowSet, most: number): readonly [RowSet, RowSet | undefined] {
  if (set.size <= most) return [set, undefined];
  const [rows, { started }] = [rowNumbers(set), set];
  return [partOf(set, rows.slice(0, most), started) as RowSet, partOf(set, rows.slice(most), started)];
}

interface QueuedPlan {
  readonly index: string;
  readonly generation: number;
  /** Number of rows in its pages. Every page but the last is full. */
  readonly planned: number;
  /** The first page that has not been given to a batch. */
  readonly next: number;
}

export interface RowQueueState {
  readonly plans: readonly QueuedPlan[];
  readonly back: readonly RowSet[];
}

/** The rows that are not in a batch: first the rows that were handed back, then the plans' pages in order. */
export class RowQueue {
  private plans: QueuedPlan[];
  private back: RowSet[];

  constructor(saved: RowQueueState = { plans: [], back: [] }) {
    this.plans = [...saved.plans];
    this.back = [...saved.back];
  }

  addPlan(plan: Omit<QueuedPlan, 'next'>): void {
    if (plan.planned > 0) this.plans.push({ ...plan, next: 0 });
  }

  handBack(sets: readonly RowSet[]): void {
    this.back.push(...sets.filter(({ size }) => size > 0));
  }

  size(): number {
    return (
      sizeOf(this.back) +
      this.plans.reduce((sum, { planned, next }) => sum + Math.max(0, planned - next * PAGE_ROWS), 0)
    );
  }

  /** Whether the queue contains bought rows. Their results are collected even if nothing else can start. */
  hasStarted(): boolean {
    return this.back.some(({ started }) => started !== undefined);
  }

  hasReplacing(): boolean {
    return [...this.plans, ...this.back].some(replacesResults);
  }

  /** Removes and returns the next rows, at most `most` of them, bought rows first. */
  take(most: number): RowSet[] {
    const taken: RowSet[] = [];
    let room = most;
    const add = (set: RowSet): RowSet | undefined => {
      const [first, rest] = splitRows(set, room);
      taken.push(first);
      room -= first.size;
      return rest;
    };
    this.back.sort((a, b) => Number(b.started !== undefined) - Number(a.started !== undefined));
    while (room > 0 && this.back.length > 0) {
      const rest = add(this.back.shift() as RowSet);
      if (rest !== undefined) this.back.unshift(rest);
    }
    while (room > 0 && this.plans.length > 0) {
      const plan = this.plans[0] as QueuedPlan;
      const { index, generation, planned, next } = plan;
      const size = Math.min(PAGE_ROWS, planned - next * PAGE_ROWS);
      const rest = add({ index, page: next, generation, size });
      if (rest !== undefined) this.back.unshift(rest);
      if ((next + 1) * PAGE_ROWS >= planned) this.plans.shift();
      else this.plans[0] = { ...plan, next: next + 1 };
    }
    return taken;
  }

  save(): RowQueueState {
    return { plans: this.plans, back: this.back };
  }
}
