import { callWait } from '../../domain/call-wait';
import { outcomes } from '../../domain/outcomes';
import { unboughtResult } from '../../domain/campaign/row-result';
import { endOrRetry } from './end-row';
import { buyOrKeep } from './end-unbought';
import { createRows, type RowAnswer } from './lane-creates';
import { type Lane } from './lane';
import { holdRow } from './lane-hold';
import { costOf, creationKeyOf, factsOf, isBegun, limitKeyOf, type LaneRow } from './lane-row';

/** Creates per activity at most; fewer than this many wait a moment for company. */
const BATCH = 25;
const WORTH = 10;
const COMPANY_MS = 2_000;
/** Under a cap so many creates are open as go out in this time: enough to use it up, and few that a cancellation finds waiting. */
const CAPPED_MS = 2_000;

/** Takes rows out of pages and sends their creates, one batch at a time: starts are paced by the service's answers. */
export class LaneStarts {
  private sending = false;
  private lastAt = 0;

  constructor(
    private readonly lane: Lane,
    private readonly onChange: () => void,
  ) {}

  start(now: number): void {
    const { lane } = this;
    if (this.sending || !lane.mayCollect()) return;
    const free = lane.orders.concurrency - lane.inFlight();
    if (free <= 0 || lane.watches.backlog() > 0 || lane.watches.serviceIsAway()) return;
    if (free < Math.min(WORTH, lane.orders.concurrency) && now - this.lastAt < COMPANY_MS) {
      lane.alarm.at(this.lastAt + COMPANY_MS);
      return;
    }
    const { createsPerSecond: cap } = lane.orders;
    const most = cap === null ? BATCH : Math.ceil((cap * CAPPED_MS) / 1_000);
    const batch = this.pick(Math.min(BATCH, most, free), now);
    if (batch.length === 0) return;
    this.lastAt = now;
    this.sending = true;
    for (const row of batch) row.phase = 'creating';
    const onRow = (row: LaneRow, answer: RowAnswer) => {
      this.onAnswer(row, answer);
      this.onChange();
    };
    const activities = cap === null ? [batch] : batch.map((row) => [row]);
    void Promise.all(
      activities.map((rows) => createRows(rows, lane.input.campaign, lane.input.settings, onRow)),
    ).finally(() => {
      this.sending = false;
      this.onChange();
    });
  }

  private pick(wanted: number, now: number): LaneRow[] {
    const { lane } = this;
    const picked: LaneRow[] = [];
    const underWay = new Map<string, number>();
    const buys = lane.mayBuy();
    const fits = (row: LaneRow): 'yes' | 'later' | 'no_money' => {
      if (row.notBefore > now) {
        lane.alarm.at(row.notBefore);
        return 'later';
      }
      if (isBegun(row)) return 'yes';
      const key = limitKeyOf(row);
      const open = underWay.get(key) ?? lane.inFlight(key);
      const limit = lane.limitOf(row);
      if (limit.room(open, now) <= 0) {
        if (limit.opensAt() > now) lane.alarm.at(limit.opensAt());
        return 'later';
      }
      // A row that waited for the service has its money already.
      if (row.create === null && row.cost === 0) {
        const cost = costOf(lane.input.campaign, row);
        if (!lane.budget.take(cost)) return 'no_money';
        row.cost = cost;
      }
      underWay.set(key, open + 1);
      return 'yes';
    };
    let waiting = 0;
    for (const row of lane.rows) {
      if (row.phase !== 'waiting') continue;
      waiting += 1;
      if (row.spec.operation !== 'create_video' || picked.length >= wanted) continue;
      if (!buys && !isBegun(row)) continue;
      const verdict = fits(row);
      if (verdict === 'no_money') return picked;
      if (verdict === 'yes') picked.push(row);
    }
    if (!buys) return picked;
    // Rows that cannot start now are set aside, so that other models go on; but not the whole manifest.
    while (picked.length < wanted && waiting < Math.max(BATCH, lane.orders.concurrency)) {
      const next = lane.pages.nextRow();
      if (next === undefined) break;
      const row = lane.begin(next.lease, next.index, now);
      if (row.opened.changed === true) {
        lane.end(row, unboughtResult(factsOf(lane.input.campaign, row), 'changed', CHANGED, now));
        continue;
      }
      if (row.spec.operation !== 'create_video') {
        waiting += 1;
        this.onChange();
        continue;
      }
      const verdict = fits(row);
      if (verdict === 'yes') picked.push(row);
      else waiting += 1;
      if (verdict === 'no_money') break;
    }
    return picked;
  }

  private onAnswer(row: LaneRow, { step, answer }: RowAnswer): void {
    const { lane } = this;
    const now = Date.now();
    if (step.do === 'absent') return this.onAbsent(row, answer);
    if (answer.outcome === 'refused_for_now') {
      const until = answer.notBefore === null ? null : Date.parse(answer.notBefore);
      lane.limitOf(row).onNoRoom(lane.inFlight(limitKeyOf(row)), now, until);
    }
    if (step.do === 'wait') {
      Object.assign(row, { phase: 'waiting', create: step.state, notBefore: step.until });
      if (answer.outcome !== 'refused_for_now') holdRow(lane, callWait(step, answer));
      return;
    }
    const settled = step.answer;
    const key = creationKeyOf(lane.input.campaign, row);
    switch (settled.outcome) {
      case 'created':
        lane.held = null;
        return lane.watches.begin(row, settled, now);
      case 'rejected':
        return endOrRetry(lane, row, outcomes.rejected(settled, key, settled.sent ? 1 : 0));
      case 'unconfirmed':
        return endOrRetry(lane, row, outcomes.unconfirmed(settled, key));
    }
  }

  /** Of an attempt that was begun before nothing came: the one after it is there, or this was the last. */
  private onAbsent(row: LaneRow, { epoch, account, estimate, mayBeOwed }: RowAnswer['answer']): void {
    if (row.attempt >= row.begun) return buyOrKeep(this.lane, row);
    const key = creationKeyOf(this.lane.input.campaign, row);
    const common = { epoch, sent: false, account, estimate, ...(mayBeOwed === true && { mayBeOwed }) };
    const message = 'It was refused for now, and tried again.';
    const refused = { ...common, outcome: 'rejected', reason: 'retry_later', message } as const;
    endOrRetry(this.lane, row, outcomes.rejected(refused, key, 0));
  }
}

const CHANGED =
  'It was bought before with another text, and is not bought again by itself. Ask for changed rows to be bought again, or give the row another id.';
