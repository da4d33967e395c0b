import { ACTIVITY } from '../../domain/names';
import { type Operation, type RunOperations } from './operations';
import { SPENT, type SpentOn, type TimeSpent } from './timeline';

/** A span of time, in milliseconds since 1970, that went to one thing. */
export interface Span {
  readonly from: number;
  readonly to: number;
  readonly on: SpentOn;
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
 * Divides the time from the first to the last event: each moment counts once, for the span whose `on` comes first in
 * {@link SPENT}. The sum is that time.
 */
export function timeSpent(from: number, to: number, spans: readonly Span[]): TimeSpent[] {
  const order = Object.keys(SPENT) as SpentOn[];
  const changes: [at: number, on: number, by: 1 | -1][] = [];
  for (const span of spans) {
    const begin = Math.max(from, span.from);
    const end = Math.min(to, span.to);
    if (begin >= end) continue;
    const on = order.indexOf(span.on);
    changes.push([begin, on, 1], [end, on, -1]);
  }
  changes.sort(([a], [b]) => a - b);
  const open = order.map(() => 0);
  const sums = order.map(() => 0);
  const last = order.length - 1;
  let now = from;
  const advance = (at: number): void => {
    const first = open.findIndex((count) => count > 0);
    const on = first < 0 ? last : first;
    sums[on] = (sums[on] ?? 0) + at - now;
    now = at;
  };
  for (const [at, on, by] of changes) {
    if (at > now) advance(at);
    open[on] = (open[on] ?? 0) + by;
  }
  if (to > now) advance(to);
  return order
    .map((on, index) => ({ on, ms: sums[index] ?? 0 }))
    .filter(({ ms }) => ms > 0)
    .sort((a, b) => b.ms - a.ms);
}

/** Spans of activities, children and workflow tasks. Those of timers depend on the story. */
export function spansOf({ operations, tasks }: RunOperations, lastAt: number): Span[] {
  const spans: Span[] = [];
  for (const operation of operations) {
    const to = operation.endedAt ?? lastAt;
    if (operation.kind === 'activity') spans.push(...activitySpans(operation, to));
    if (operation.kind === 'child') spans.push({ from: operation.at, to, on: 'waiting_for_children' });
  }
  for (const { at, startedAt, endedAt } of tasks) {
    spans.push({ from: at, to: startedAt ?? lastAt, on: 'waiting_for_worker' });
    if (startedAt !== null) spans.push({ from: startedAt, to: endedAt ?? lastAt, on: 'workflow_code' });
  }
  return spans;
}

function activitySpans({ name, at, startedAt, attempt }: Operation, to: number): Span[] {
  const on = workOf(name);
  // The server records the start of the last try alone: what was before it went to earlier tries and their pauses.
  if (startedAt === null || attempt > 1)
    return [{ from: at, to, on: startedAt === null ? 'waiting_for_worker' : on }];
  return [
    { from: at, to: startedAt, on: 'waiting_for_worker' },
    { from: startedAt, to, on },
  ];
}

function workOf(name: string): SpentOn {
  if (DOWNLOADS.includes(name)) return 'downloading';
  if (CREATES.includes(name)) return 'creating';
  if (name === ACTIVITY.pollVideos) return 'poll_requests';
  // Its watcher makes the requests.
  if (name === ACTIVITY.watchVideo) return 'waiting_for_polls';
  return OURS.includes(name) ? 'bookkeeping' : 'own_activities';
}
