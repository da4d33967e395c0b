import { PAGE_ROWS } from './plan';
import { replacesResults, type RowSet, sizeOf, splitRows } from './row-set';

/** A plan with pages in the queue. */
export interface QueuedPlan {
  readonly index: string;
  readonly generation: number;
  /** Rows in its pages; every page but the last is full. */
  readonly planned: number;
  /** The first page that no batch has taken. */
  readonly next: number;
}

export interface RowQueueState {
  readonly plans: readonly QueuedPlan[];
  readonly back: readonly RowSet[];
}

/** Rows that no batch has: first those that were handed back, then the pages of plans in order. */
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

  /** Returns rows that a batch did not finish. */
  handBack(sets: readonly RowSet[]): void {
    this.back.push(...sets.filter(({ size }) => size > 0));
  }

  size(): number {
    return (
      sizeOf(this.back) +
      this.plans.reduce((sum, { planned, next }) => sum + Math.max(0, planned - next * PAGE_ROWS), 0)
    );
  }

  /** Whether the queue holds rows that were bought: they are collected even when nothing else may begin. */
  hasStarted(): boolean {
    return this.back.some(({ started }) => started !== undefined);
  }

  /** Whether the queue holds rows whose results may replace earlier ones. */
  hasReplacing(): boolean {
    return [...this.plans, ...this.back].some(replacesResults);
  }

  /** Takes the next rows, at most `most` of them; bought rows first. */
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
