import { type ActiveRow, type LaneReport } from '../../domain/campaign/messages';
import { type Lane } from './lane';
import { type LaneRow } from './lane-row';

/** A row for a person who watches: no prompt, and a percentage only where the service sent one (C2.2.4). */
export function activeRow({ opened, phase, created, watch, startedAt }: LaneRow): ActiveRow {
  const progress = watch?.progress ?? null;
  return {
    key: opened.key,
    phase,
    taskId: created?.video.taskId ?? null,
    status: watch?.lastStatus ?? null,
    ...(progress !== null && { progress }),
    since: new Date(startedAt).toISOString(),
  };
}

/** Rows under way that a report names. */
const SAMPLE = 3;

/** Everything that the parent should know of a lane. */
export function laneReport(lane: Lane, n: number, room: number): LaneReport {
  const rows = [...lane.rows];
  const waiting = rows.filter(({ phase }) => phase === 'waiting').length;
  return {
    lane: lane.input.lane,
    n,
    campaignRun: lane.input.campaignRun,
    ordersSeen: lane.orders.n,
    segments: lane.results.segments(),
    leases: lane.pages.all().map((lease) => ({ lease: lease.lease, done: lease.isDone() })),
    room,
    committed: lane.budget.committed(),
    needs: lane.budget.needs,
    inFlight: rows.length - waiting,
    waiting,
    sample: rows.slice(0, SAMPLE).map(activeRow),
  };
}
