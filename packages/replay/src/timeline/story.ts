import { type Money } from 'temporal-media';
import { failureWords } from './failure-facts';
import { type Operation, type RunOperations } from './operations';
import { type Span } from './time-spent';
import {
  type EntryKind,
  type EventIds,
  type Facts,
  MAX_CHANGES,
  type MoneySummary,
  type PollChange,
  type SpentOn,
  type TimelineEntry,
  type Tone,
} from './timeline';
import { type Shown } from './values';
import { type WorkflowTask } from './workflow-tasks';

/**
 * Removes a reset run's copies of events. A reset run begins with events copied from the run it was reset from. If that
 * run comes just before, the copies become part of the reset, so that each paid request appears once, in the run that
 * sent it.
 */
export function withoutCopies(runs: readonly RunOperations[]): readonly RunOperations[] {
  return runs.map((run, index) => {
    const reset = run.operations.findLast(({ kind }) => kind === 'reset');
    const isCopied = reset !== undefined && reset.target?.runId === runs[index - 1]?.run.runId;
    return isCopied ? fromReset(run, reset) : run;
  });
}

function fromReset(run: RunOperations, reset: Operation): RunOperations {
  const at = reset.ids[0] ?? 0;
  // Open operations continue in this run.
  const isCopy = ({ ids, end }: Operation): boolean => end !== 'open' && ids.every((id) => id < at);
  const copies = run.operations.filter(isCopy).flatMap(({ ids }) => ids);
  const own = { ...reset, ids: [...copies, ...reset.ids] };
  return {
    ...run,
    operations: run.operations
      .filter((operation) => !isCopy(operation))
      .map((operation) => (operation === reset ? own : operation)),
    tasks: run.tasks.filter((task) => task.at >= reset.at),
    firstAt: reset.at,
  };
}

/** An entry's content, without its times and events. */
export interface Said {
  readonly kind: EntryKind;
  readonly tone?: Tone;
  readonly text: string;
  readonly facts?: Facts;
}

/** An entry to which events can still be added. */
export class OpenEntry {
  private readonly events = new Map<number, number[]>();
  private until = 0;
  said: Required<Said>;

  constructor(
    said: Said,
    readonly at: number,
  ) {
    this.said = { tone: 'plain', facts: {}, ...said };
  }

  say(said: Partial<Said>): void {
    this.said = { ...this.said, ...said };
  }

  add(operation: Operation): this {
    this.addIds(operation.run, operation.ids);
    this.until = Math.max(this.until, operation.until);
    return this;
  }

  addIds(run: number, ids: readonly number[]): void {
    const known = this.events.get(run);
    if (known === undefined) this.events.set(run, [...ids]);
    else known.push(...ids);
  }

  /** Returns the first event, which orders entries with the same time. */
  order(): readonly [run: number, id: number] {
    const runs = [...this.events.entries()].map(([run, ids]) => [run, Math.min(...ids)] as const);
    return runs.sort(([a], [b]) => a - b)[0] ?? [0, 0];
  }

  finish(): TimelineEntry {
    const { kind, tone, text, facts } = this.said;
    const events: EventIds[] = [...this.events]
      // A watcher's poll has no event in the video's history.
      .filter(([, ids]) => ids.length > 0)
      .map(([run, ids]) => ({ run, ids: ids.sort((a, b) => a - b) }));
    const iso = (ms: number): string => new Date(ms).toISOString();
    return { at: iso(this.at), until: iso(Math.max(this.at, this.until)), kind, tone, text, facts, events };
  }
}

/** Returns a retried activity's attempt number, and why the previous attempt failed. */
function triesText({ attempt, lastFailure }: Operation): string {
  if (attempt <= 1) return '';
  return `; attempt ${attempt}${lastFailure === null ? '' : `, previous failure: ${failureWords(lastFailure)}`}`;
}

/** Whether the service refused a send with this outcome. A refused send cost nothing. */
export const isRefused = (outcome: unknown): boolean =>
  outcome === 'refused_for_now' || outcome === 'rejected';

/** The timeline under construction: what the operations so far have shown. */
export class Story {
  readonly entries: OpenEntry[] = [];
  readonly spans: Span[] = [];
  readonly polls: {
    count: number;
    first: number | null;
    last: number | null;
    longestGapMs: number | null;
    errors: { [errorClass: string]: number };
    changes: PollChange[];
    changesLeftOut: number;
  } = { count: 0, first: null, last: null, longestGapMs: null, errors: {}, changes: [], changesLeftOut: 0 };
  money: MoneySummary = { estimate: null, actual: null, state: null, usageReported: false };
  outcome: string | null = null;
  advice: string | null = null;
  taskId: string | null = null;
  creationKey: string | null = null;
  model: string | null = null;
  account: string | null = null;
  deadlineAt: string | null = null;
  sends = 0;
  sendsRefused = 0;
  sendsAccepted = 0;
  /** Whether the last create returned no answer. Only the journal shows whether it was sent. */
  isUnanswered = false;
  /** ISO 4217 code for this workflow's prices. */
  currency: string | null = null;
  /** How long to wait for the video, in milliseconds, as given in the input. */
  waitForMs: number | null = null;
  /** When the last create with an unknown outcome began to wait for a person; null if none is waiting. */
  undecidedSince: number | null = null;
  /** When the campaign was paused; null when it is not. */
  pausedSince: number | null = null;
  /**
   * The entry that a timer belongs to. The key is the run and the event id of the completed workflow task that started
   * the timer.
   */
  readonly limits = new Map<string, OpenEntry>();

  constructor(
    readonly shown: Shown,
    /** Where open operations' bars end: when the history was read, or else the last event of all runs. */
    readonly lastAt: number,
    /** Each run's workflow tasks. */
    readonly tasks: readonly (readonly WorkflowTask[])[],
  ) {}

  add(said: Said, operation: Operation): OpenEntry {
    const entry = new OpenEntry({ ...said, text: `${said.text}${triesText(operation)}` }, operation.at).add(
      operation,
    );
    this.entries.push(entry);
    return entry;
  }

  /** @param outcome the send's outcome; null if it returned no answer */
  sent(outcome: string | null): void {
    this.sends += 1;
    if (outcome === null || outcome === 'unconfirmed') return;
    if (isRefused(outcome)) this.sendsRefused += 1;
    else this.sendsAccepted += 1;
  }

  span(on: SpentOn, { at, endedAt }: Pick<Operation, 'at' | 'endedAt'>): void {
    this.spans.push({ on, from: at, to: endedAt ?? this.lastAt });
  }

  /** Records that a wait for a person ended. */
  decided(at: number): void {
    if (this.undecidedSince !== null)
      this.spans.push({ on: 'waiting_for_person', from: this.undecidedSince, to: at });
    this.undecidedSince = null;
  }

  resumed(at: number): void {
    if (this.pausedSince !== null)
      this.spans.push({ on: 'waiting_for_person', from: this.pausedSince, to: at });
    this.pausedSince = null;
  }

  changed(change: PollChange): void {
    if (this.polls.changes.length < MAX_CHANGES) this.polls.changes.push(change);
    else this.polls.changesLeftOut += 1;
  }

  estimated(estimate: Money | null): void {
    if (estimate === null) return;
    this.currency = estimate.currency;
    this.money = { ...this.money, estimate };
  }

  /** Returns when the workflow processed an operation's end: the time of its next workflow task. */
  processedAt({ run, until }: Operation): number {
    const next = this.tasks[run]?.find(({ startedAt }) => startedAt !== null && startedAt >= until);
    return next?.startedAt ?? until;
  }
}
