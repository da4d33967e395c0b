import { type AdaptiveLimit } from '../../domain/campaign/adaptive-limit';
import { beginWatch, type WatchState } from '../../domain/poll-watch';
import { type LaneCarried, type RowRecord, type SharedTask, taskOf } from '../../domain/campaign/lane-state';
import { type Lane } from './lane';
import { type LanePages } from './lane-pages';
import { creationKeyOf, type LaneRow, newRow } from './lane-row';

/** What a lane takes into its next run. */
export function carryLane(lane: Lane, limits: ReadonlyMap<string, AdaptiveLimit>): LaneCarried {
  const { orders, seen, parent, results, budget, pages, rows } = lane;
  const cadences = lane.watches.save();
  return {
    v: 1,
    orders,
    seen,
    reports: parent.lastNumber(),
    segments: results.lastSeq(),
    committed: budget.committed(),
    grant: budget.grant(),
    unconfirmedSegments: results.segments(),
    leases: pages.carry(),
    ...carryRows(rows),
    cadences,
    limits: [...limits].map(([key, limit]) => [key, limit.save()] as const),
  };
}

/** Rows as records, with what many of them share said once. */
function carryRows(rows: Iterable<LaneRow>): Pick<LaneCarried, 'rows' | 'tasks'> {
  const tasks: SharedTask[] = [];
  const places = new Map<string, number>();
  const placeOf = (task: SharedTask): number => {
    const key = JSON.stringify([task.account, task.source, task.polling]);
    const known = places.get(key);
    if (known !== undefined) return known;
    places.set(key, tasks.length);
    return tasks.push(task) - 1;
  };
  return { rows: [...rows].map((row) => recordOf(row, placeOf)), tasks };
}

function recordOf(row: LaneRow, placeOf: (task: SharedTask) => number): RowRecord {
  const { lease, index, phase, attempt, startedAt, notBefore, cost, create, created, watch, last } = row;
  const { spent, begun } = row;
  const had = row.opened.was?.ledger.length ?? 0;
  return {
    lease: lease.lease,
    index,
    phase,
    attempt,
    startedAt,
    ...(notBefore > 0 && { notBefore }),
    ...(cost > 0 && { cost }),
    ...(spent > 0 && { spent }),
    ...(begun >= 0 && { begun }),
    ...(create !== null && { create: withoutKey(create) }),
    ...(created !== null && {
      task: {
        id: created.video.taskId,
        of: placeOf(sharedOf(created.video)),
        createdAt: created.video.createdAt,
        ...(created.estimate !== null && { estimate: created.estimate }),
        ...(created.warnings.length > 0 && { warnings: created.warnings }),
        ...(created.mayBeOwed === true && { mayBeOwed: true }),
      },
    }),
    ...(watch !== null && { watch: briefWatch(watch.state) }),
    ...((row.ledger.length > had || last !== null) && { ledger: row.ledger }),
    ...(last !== null && { last }),
  };
}

function sharedOf({ account, polling, source }: SharedTask): SharedTask {
  const { minSeconds, maxSeconds, firstPollSeconds } = polling;
  return { account, polling: { minSeconds, maxSeconds, firstPollSeconds }, source };
}

function withoutKey(create: NonNullable<LaneRow['create']>): NonNullable<RowRecord['create']> {
  const { epoch, sends, tries, waits, startedAt, firstSendAt, mayBeOwed, unknown } = create;
  return {
    epoch,
    sends,
    tries,
    waits,
    startedAt,
    firstSendAt,
    ...(mayBeOwed && { mayBeOwed }),
    ...(unknown && { unknown }),
  };
}

/** Only what differs from a watch that has just begun. */
function briefWatch(watch: WatchState): Partial<WatchState> {
  const fresh = beginWatch({
    video: watch.video,
    now: watch.startedAt,
    deadlineAt: watch.deadlineAt,
    firstPollAt: watch.dueAt,
  });
  const { startedAt, deadlineAt, dueAt } = watch;
  const changed = Object.entries(watch).filter(
    ([name, value]) => name !== 'video' && fresh[name as keyof WatchState] !== value,
  );
  return { startedAt, deadlineAt, dueAt, ...Object.fromEntries(changed) };
}

/** The rows of a run before, once their pages are open. A row whose page was taken away is left out: it is begun elsewhere. */
export function restoreRows(carried: LaneCarried, pages: LanePages, campaign: string): LaneRow[] {
  return carried.rows.flatMap((record) => {
    const lease = pages.get(record.lease);
    return lease?.opened == null ? [] : [restoreRow(record, lease, carried, campaign)];
  });
}

/** The SDK keeps what a run was started with until it ends: as large as the rows themselves, and not needed any more. */
export function forget({ rows }: LaneCarried): void {
  (rows as RowRecord[]).length = 0;
}

function restoreRow(
  record: RowRecord,
  lease: LaneRow['lease'],
  { tasks }: LaneCarried,
  campaign: string,
): LaneRow {
  const row = newRow(lease, record.index, record.startedAt);
  if (record.index >= lease.next) lease.ahead.add(record.index);
  Object.assign(row, {
    phase: record.phase,
    attempt: record.attempt,
    notBefore: record.notBefore ?? 0,
    cost: record.cost ?? 0,
    spent: record.spent ?? 0,
    begun: record.begun ?? -1,
    ...(record.ledger !== undefined && { ledger: record.ledger }),
    last: record.last ?? null,
  });
  if (record.create !== undefined)
    row.create = { v: 1, creationKey: creationKeyOf(campaign, row), ...record.create };
  const shared = record.task === undefined ? undefined : tasks[record.task.of];
  if (record.task === undefined || shared === undefined) return row;
  const video = taskOf(row.spec, shared, record.task);
  row.created = {
    video,
    estimate: record.task.estimate ?? null,
    warnings: record.task.warnings ?? [],
    ...(record.task.mayBeOwed === true && { mayBeOwed: true }),
  };
  if (record.watch !== undefined) row.watch = { state: restoreWatch(video, record.watch) };
  return row;
}

function restoreWatch(video: WatchState['video'], brief: Partial<WatchState>): WatchState {
  const { startedAt = 0, deadlineAt = 0, dueAt = 0 } = brief;
  return { ...beginWatch({ video, now: startedAt, deadlineAt, firstPollAt: dueAt }), ...brief, video };
}
