import { callWait } from '../../domain/call-wait';
import { beginCreate, DEFAULT_START_LIMIT_MS } from '../../domain/create-once';
import { type ImageOutcome } from '../../domain/outcome';
import { type WaitingImage } from '../../domain/paid-call';
import { afterImage, isWaitingImage } from '../image-call';
import { endOrRetry } from './end-row';
import { buyOrKeep } from './end-unbought';
import { holdRow } from './lane-hold';
import { drawRow } from './lane-images';
import { type Lane } from './lane';
import { costOf, creationKeyOf, isBegun, limitKeyOf, type LaneRow } from './lane-row';

/** Image calls of one lane that are open at a time: each takes a minute and a place in the worker. */
const OPEN_DRAWS = 25;

/** Image rows: set aside when their page is read, then one activity each. */
export class LaneDraws {
  private open = 0;

  constructor(
    private readonly lane: Lane,
    private readonly onChange: () => void,
  ) {}

  areOpen(): boolean {
    return this.open > 0;
  }

  start(now: number): void {
    const { lane } = this;
    if (!lane.mayCollect()) return;
    const buys = lane.mayBuy();
    for (const row of lane.rows) {
      if (row.phase !== 'waiting' || row.spec.operation === 'create_video') continue;
      if (!buys && !isBegun(row)) continue;
      if (this.open >= OPEN_DRAWS || lane.inFlight() >= lane.orders.concurrency) return;
      if (row.notBefore > now) lane.alarm.at(row.notBefore);
      else if (isBegun(row) || (this.hasRoom(row, now) && this.hasMoney(row))) void this.draw(row);
    }
  }

  private hasRoom(row: LaneRow, now: number): boolean {
    const limit = this.lane.limitOf(row);
    if (limit.room(this.lane.inFlight(limitKeyOf(row)), now) > 0) return true;
    if (limit.opensAt() > now) this.lane.alarm.at(limit.opensAt());
    return false;
  }

  private hasMoney(row: LaneRow): boolean {
    // A row that waited for the service has its money already.
    if (row.create !== null || row.cost > 0) return true;
    const cost = costOf(this.lane.input.campaign, row);
    if (!this.lane.budget.take(cost)) return false;
    row.cost = cost;
    return true;
  }

  /** Nothing came of it yet: it keeps its money and its place. */
  private waitOrEnd(row: LaneRow, got: WaitingImage): ImageOutcome | undefined {
    const { lane } = this;
    const state = row.create ?? beginCreate(creationKeyOf(lane.input.campaign, row), Date.now());
    const step = afterImage(state, got, { startLimitMs: DEFAULT_START_LIMIT_MS, patient: true });
    if ('outcome' in step) return step;
    Object.assign(row, { phase: 'waiting', create: step.state, notBefore: step.until });
    holdRow(lane, callWait(step, got));
    return undefined;
  }

  private async draw(row: LaneRow): Promise<void> {
    const { lane } = this;
    this.open += 1;
    row.phase = 'drawing';
    try {
      const isLookedUp = isBegun(row);
      const got = await drawRow(row, lane.input.campaign, lane.input.settings);
      const outcome = isWaitingImage(got) ? this.waitOrEnd(row, got) : got;
      if (outcome === undefined) return;
      if (isLookedUp && row.attempt >= row.begun && isAbsent(outcome)) {
        buyOrKeep(lane, row);
        return;
      }
      if (outcome.outcome === 'completed') {
        lane.limitOf(row).onSuccess();
        lane.held = null;
      }
      if (outcome.outcome === 'rejected' && NO_ROOM.includes(outcome.reason)) {
        const until = outcome.notBefore === undefined ? null : Date.parse(outcome.notBefore);
        lane.limitOf(row).onNoRoom(lane.inFlight(limitKeyOf(row)), Date.now(), until);
      }
      endOrRetry(lane, row, outcome);
    } finally {
      this.open -= 1;
      this.onChange();
    }
  }
}

/** A call that was begun before, and of which nothing came. */
function isAbsent(outcome: ImageOutcome): boolean {
  return outcome.outcome === 'rejected' && ['not_sent', 'retry_later'].includes(outcome.reason);
}

const NO_ROOM: readonly string[] = ['capacity', 'retry_later'];
