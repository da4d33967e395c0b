import { type ActiveRow, type LaneReport } from '../../domain/campaign/messages';
import { PAGE_ROWS } from '../../domain/campaign/plan';
import { type LaneState, SHOWN_ROWS } from '../../domain/campaign/state';
import { type Lane } from './lane';
import { heldNow } from './lane-hold';
import { type LaneRow } from './lane-row';

/** Answer of the query `lane_state`. */
export function laneState(lane: Lane): LaneState {
  if (lane.unrestored().length > 0) return { active: null };
  return { active: [...lane.rows].slice(0, SHOWN_ROWS).map(activeRow) };
}

/** A row for a person who watches: no prompt, and a percentage only where the service sent one (C2.2.4). */
function activeRow({ opened, phase, created, watch, startedAt }: LaneRow): ActiveRow {
  const progress = watch?.state.progress ?? null;
  return {
    key: opened.key,
    phase,
    taskId: created?.video.taskId ?? null,
    status: watch?.state.lastStatus ?? null,
    ...(progress !== null && { progress }),
    since: new Date(startedAt).toISOString(),
  };
}

/** Rows under way that a report names. */
const SAMPLE = 3;

/** Everything that the parent should know of a lane. */
export function laneReport(lane: Lane, n: number, room: number): LaneReport {
  const rows = [...lane.rows];
  const { held, since } = lane.budget.grant();
  // The first report of a run comes before it has taken up the rows of the one before: it holds them all the same.
  const phases = [...rows, ...lane.unrestored()].map(({ phase }) => phase);
  const waiting = phases.filter((phase) => phase === 'waiting').length;
  const inFlight = phases.length - waiting;
  return {
    lane: lane.input.lane,
    life: lane.input.life,
    n,
    campaignRun: lane.input.campaignRun,
    ordersSeen: lane.seen ?? 0,
    orphaned: lane.parent.gone,
    segments: lane.results.segments(),
    leases: lane.pages.all().map((lease) => ({
      lease: lease.lease,
      page: lease.name(),
      done: lease.isDone() ? (lease.opened?.rows.length ?? null) : null,
      ...(!lease.sought && { open: false as const }),
    })),
    room,
    committed: lane.budget.committed(),
    ...(since > 0 && { granted: held, parentSince: since }),
    needs: lane.budget.needs,
    inFlight,
    settling: inFlight + lane.results.unwritten(),
    waiting,
    held: heldNow(lane, Date.now()),
    sample: rows.slice(0, SAMPLE).map(activeRow),
  };
}

/** Rows that should always be at hand, so that a batch never waits for a page. */
const AHEAD_ROWS = 150;

/** How many more pages would keep rows at hand. */
export function pageRoom(lane: Lane): number {
  if (lane.isDraining()) return 0;
  const atHand = lane.pages.unbegun() + PAGE_ROWS * lane.pages.pending();
  const wanted = Math.max(AHEAD_ROWS, lane.orders.concurrency / 4);
  return Math.max(0, Math.ceil((wanted - atHand) / PAGE_ROWS));
}
