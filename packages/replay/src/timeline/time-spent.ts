import { ACTIVITY, WORKFLOW } from 'temporal-media/internal/domain/names';
import { type FailureFacts } from './failure-facts';
import { type Operation, type RunOperations } from './operations';
import { SPENT, type SpentOn, type TimeSpent } from './timeline';
import { type WorkflowTask } from './workflow-tasks';

/** A time span and what it was spent on. Times are in milliseconds since 1970. */
export interface Span {
  readonly from: number;
  readonly to: number;
  readonly on: SpentOn;
  /**
   * Number of campaign rows in this phase. Rows share the time during which the workflow itself was idle. Absent for
   * the workflow's own work and waits.
   */
  readonly rows?: number;
}

const CREATES: readonly string[] = [
  ACTIVITY.createVideo,
  ACTIVITY.createVideos,
  ACTIVITY.reconcileCreate,
  ACTIVITY.generateImage,
  ACTIVITY.editImage,
  ACTIVITY.campaignImage,
];
const DOWNLOADS: readonly string[] = [
  ACTIVITY.downloadVideo,
  ACTIVITY.downloadVideos,
  ACTIVITY.deliverVideos,
];
const OURS: readonly string[] = Object.values(ACTIVITY);

/**
 * Divides the time between two moments. Each moment counts once, toward the span whose `on` comes first in
 * {@link SPENT}. The campaign's rows share the moments without such a span. The parts are whole milliseconds and add up
 * to the divided time.
 */
export function timeSpent(from: number, to: number, spans: readonly Span[]): TimeSpent[] {
  const order = Object.keys(SPENT) as SpentOn[];
  const changes: [at: number, on: number, by: number, isOfRows: boolean][] = [];
  for (const span of spans) {
    const begin = Math.max(from, span.from);
    const end = Math.min(to, span.to);
    if (begin >= end) continue;
    const on = order.indexOf(span.on);
    const by = span.rows ?? 1;
    const isOfRows = span.rows !== undefined;
    changes.push([begin, on, by, isOfRows], [end, on, -by, isOfRows]);
  }
  changes.sort(([a], [b]) => a - b);
  const open = order.map(() => 0);
  const rows = order.map(() => 0);
  const sums = order.map(() => 0);
  const last = order.length - 1;
  let now = from;
  const advance = (at: number): void => {
    const first = open.findIndex((count) => count > 0);
    const all = first < 0 ? rows.reduce((sum, count) => sum + count, 0) : 0;
    if (all === 0) addTo(sums, first < 0 ? last : first, at - now);
    else rows.forEach((count, on) => addTo(sums, on, ((at - now) * count) / all));
    now = at;
  };
  for (const [at, on, by, isOfRows] of changes) {
    if (at > now) advance(at);
    addTo(isOfRows ? rows : open, on, by);
  }
  if (to > now) advance(to);
  const whole = inWhole(sums);
  return order
    .map((on, index) => ({ on, ms: whole[index] ?? 0 }))
    .filter(({ ms }) => ms > 0)
    .sort((a, b) => b.ms - a.ms);
}

function addTo(sums: number[], on: number, by: number): void {
  sums[on] = (sums[on] ?? 0) + by;
}

/** Rounds numbers to whole numbers with the same sum. */
function inWhole(sums: readonly number[]): number[] {
  let sum = 0;
  let given = 0;
  return sums.map((ms) => {
    sum += ms;
    const next = Math.round(sum) - given;
    given += next;
    return next;
  });
}

/**
 * Returns the spans for activities, children and workflow tasks. Timers and batch rows are not included, because their
 * spans depend on other entries.
 */
export function spansOf({ operations, tasks }: RunOperations, lastAt: number): Span[] {
  const spans: Span[] = [];
  for (const operation of operations) {
    const to = operation.endedAt ?? lastAt;
    if (operation.kind === 'activity') spans.push(...activitySpans(operation, to));
    if (operation.kind === 'child' && !isBatch(operation))
      spans.push({ from: operation.at, to, on: 'waiting_for_children' });
  }
  return [...spans, ...taskSpans(tasks, lastAt)];
}

const isBatch = ({ name }: Operation): boolean => name === WORKFLOW.campaignBatch;

/**
 * Returns the time that workflow tasks took. The history contains only a task's first failure and the attempt that
 * succeeded. The time between them was spent on failed attempts and the server's backoff.
 */
function taskSpans(tasks: readonly WorkflowTask[], lastAt: number): Span[] {
  const spans: Span[] = [];
  let failedAt: number | null = null;
  for (const { at, startedAt, endedAt, end } of tasks) {
    const taken: number = startedAt ?? endedAt ?? lastAt;
    if (failedAt === null) spans.push({ from: at, to: taken, on: 'waiting_for_worker' });
    else spans.push({ from: failedAt, to: taken, on: 'workflow_failing' });
    // A timeout without a start: the worker was gone, and the server offers the task to other workers.
    if (startedAt === null) continue;
    spans.push({ from: startedAt, to: endedAt ?? lastAt, on: TASK_ENDS[end] });
    failedAt = end === 'failed' ? endedAt : null;
  }
  if (failedAt !== null) spans.push({ from: failedAt, to: lastAt, on: 'workflow_failing' });
  return spans;
}

const TASK_ENDS = {
  open: 'workflow_code',
  completed: 'workflow_code',
  failed: 'workflow_failing',
  // The run begins with copied events. This history does not show what the other run did after them.
  reset: 'until_reset',
} as const satisfies { readonly [end in WorkflowTask['end']]: SpentOn };

function activitySpans(operation: Operation, to: number): Span[] {
  const { name, at, startedAt, attempt, lastFailure, offered } = operation;
  const on = workOf(name);
  if (offered !== null) {
    const begun = Math.min(offered.from, to);
    const pause = pauseBefore(offered.from, lastFailure, attempt);
    const from = Math.max(at, Math.min(pause.from, offered.triedUntil ?? at));
    return [
      { from: at, to: from, on },
      ...pauseSpans(from, begun, pause),
      { from: begun, to, on: 'waiting_for_worker' },
    ];
  }
  // An activity without a start may be running: its start is recorded only when it ends.
  if (startedAt === null) return [{ from: at, to, on }];
  if (attempt <= 1)
    return [
      { from: at, to: startedAt, on: 'waiting_for_worker' },
      { from: startedAt, to, on },
    ];
  // The server records only the last attempt's start. Earlier attempts and their backoff took the time before it.
  const pause = pauseBefore(startedAt, lastFailure, attempt);
  const from = Math.max(at, pause.from);
  return [{ from: at, to: from, on }, ...pauseSpans(from, startedAt, pause), { from: startedAt, to, on }];
}

/** The cause of a pause, and how long a pause the service requested. */
export interface Pause {
  readonly on: SpentOn;
  /** The requested pause in milliseconds; null if none was requested. */
  readonly askedMs: number | null;
}

function pauseBefore(
  startedAt: number,
  failure: FailureFacts | null,
  attempt: number,
): Pause & { readonly from: number } {
  const { delayMs = null, retryAfterMs = null, class: word = null } = failure ?? {};
  const on = pauseOn(word);
  // Attempts after a rejected key follow at a fixed interval. For our own backoff, only the last pause is known.
  const pauses = on === 'own_backoff' ? 1 : attempt - 1;
  return { on, askedMs: retryAfterMs, from: startedAt - (delayMs ?? 0) * pauses };
}

/**
 * Returns what a pause waits for after an answer with one of these causes, reasons or classes. Defaults to our own
 * backoff.
 */
export const pauseOn = (...words: readonly unknown[]): SpentOn =>
  PAUSES.find(([word]) => words.includes(word))?.[1] ?? 'own_backoff';

const PAUSES: readonly (readonly [word: string, on: SpentOn])[] = [
  ['credentials', 'waiting_for_key'],
  ['no_key', 'waiting_for_key'],
  ['quota', 'waiting_for_money'],
  ['spend_limit', 'waiting_for_money'],
  ['account_rate', 'waiting_for_slot'],
];

/** Splits a pause into the part that the service requested and the remainder. */
export function pauseSpans(from: number, to: number, { on, askedMs }: Pause): Span[] {
  const asked = Math.min(to, from + (askedMs ?? 0));
  return [
    { from, to: asked, on: 'retry_after' },
    { from: asked, to, on },
  ];
}

function workOf(name: string): SpentOn {
  if (DOWNLOADS.includes(name)) return 'downloading';
  if (CREATES.includes(name)) return 'creating';
  if (name === ACTIVITY.pollVideos) return 'poll_requests';
  // The video's watcher makes the requests.
  if (name === ACTIVITY.watchVideo) return 'waiting_for_polls';
  return OURS.includes(name) ? 'bookkeeping' : 'own_activities';
}
