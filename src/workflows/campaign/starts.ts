import { ROWS_PER_ACTIVITY } from '../../domain/campaign/concurrency';
import { unboughtResult } from '../../domain/campaign/row-result';
import { outcomes } from '../../domain/outcome';
import { callWait } from '../../domain/video-state';
import { creationKeyOf, factsOf, isStarted, limitKeyOf, type Row } from './batch-rows';
import { type BatchWork } from './batch-work';
import { createRows, type RowAnswer } from './creates';
import { endOrRetry } from './end-row';
import { buyOrKeep } from './unbought-rows';
import { type Watches } from './watches';

/** If fewer creates than this are ready, they wait up to `GROUP_WAIT_MS` for more, so that they share an activity. */
const MIN_GROUP = 10;
const GROUP_WAIT_MS = 2_000;
/**
 * A batch may have one open group for every this many rows. That allows 150 creates per second, and few creates are
 * waiting when the campaign is canceled.
 */
const ROWS_PER_GROUP = 300;
/**
 * With a rate limit, as many creates are open as can be sent in this many milliseconds. That is enough to use the full
 * limit, and few creates are waiting when the campaign is canceled.
 */
const CAPPED_MS = 2_000;

/**
 * Takes rows from pages and sends their creates, a few groups at a time, so that the service's answers pace the starts.
 */
export class Starts {
  private sending = 0;
  private isLookingUp = false;
  private lastAt = 0;

  constructor(
    private readonly batch: BatchWork,
    private readonly watches: Watches,
  ) {}

  start(now: number): void {
    this.lookUp(now);
    let hasSent = true;
    while (hasSent) hasSent = this.sendNext(now);
  }

  private sendNext(now: number): boolean {
    const { batch } = this;
    const { slots, createsPerSecond: cap } = batch.orders;
    const mostGroups = cap === null ? Math.max(1, Math.floor(batch.size / ROWS_PER_GROUP)) : 1;
    if (this.sending >= mostGroups) return false;
    const free = slots - batch.inFlight();
    if (free <= 0 || this.watches.backlog() > 0 || this.watches.serviceIsAway()) return false;
    if (free < Math.min(MIN_GROUP, slots) && now - this.lastAt < GROUP_WAIT_MS) {
      batch.alarm.at(this.lastAt + GROUP_WAIT_MS);
      return false;
    }
    const most = cap === null ? ROWS_PER_ACTIVITY.create : Math.ceil((cap * CAPPED_MS) / 1_000);
    const group = this.pick(Math.min(ROWS_PER_ACTIVITY.create, most, free), now);
    if (group.length === 0) return false;
    this.lastAt = now;
    this.sending += 1;
    void this.send(cap === null ? [group] : group.map((row) => [row])).finally(() => {
      this.sending -= 1;
      this.batch.wake();
    });
    return true;
  }

  private lookUp(now: number): void {
    if (this.isLookingUp) return;
    const found: Row[] = [];
    for (const row of this.batch.rows) {
      if (found.length >= ROWS_PER_ACTIVITY.lookUp) break;
      if (!isLookedUp(row)) continue;
      if (row.notBefore > now) this.batch.alarm.at(row.notBefore);
      else found.push(row);
    }
    if (found.length === 0) return;
    this.isLookingUp = true;
    void this.send([found]).finally(() => {
      this.isLookingUp = false;
      this.batch.wake();
    });
  }

  private async send(groups: readonly (readonly Row[])[]): Promise<void> {
    const onRow = (row: Row, answer: RowAnswer) => {
      this.onAnswer(row, answer);
      this.batch.wake();
    };
    for (const rows of groups) for (const row of rows) row.phase = 'creating';
    await Promise.all(groups.map((rows) => createRows(rows, this.batch, onRow)));
  }

  private pick(most: number, now: number): Row[] {
    const { batch } = this;
    const picked: Row[] = [];
    if (!batch.mayBuy()) return picked;
    const underWay = new Map<string, number>();
    const fits = (row: Row): boolean => {
      if (row.notBefore > now) {
        batch.alarm.at(row.notBefore);
        return false;
      }
      const key = limitKeyOf(row);
      const open = underWay.get(key) ?? batch.inFlight(key);
      if (!batch.hasRoom(row, open, now) || !batch.takeMoney(row)) return false;
      underWay.set(key, open + 1);
      return true;
    };
    let waiting = 0;
    for (const row of batch.rows) {
      if (row.phase !== 'waiting' || isLookedUp(row)) continue;
      waiting += 1;
      if (row.spec.operation !== 'create_video' || picked.length >= most) continue;
      if (fits(row)) picked.push(row);
    }
    // Set aside rows that cannot start now, so that other models and cheaper rows continue. Limit how many are set
    // aside, or the whole batch would be.
    while (picked.length < most && waiting < Math.max(ROWS_PER_ACTIVITY.create, batch.orders.slots)) {
      const next = batch.pages.nextRow();
      if (next === undefined) break;
      const row = batch.begin(next.set, next.index, now);
      if (row.opened.changed === true) {
        batch.end(row, unboughtResult(factsOf(batch.input.campaign, row), 'changed', CHANGED, now));
        continue;
      }
      if (isLookedUp(row)) {
        this.batch.wake();
        continue;
      }
      if (row.spec.operation !== 'create_video') {
        waiting += 1;
        this.batch.wake();
        continue;
      }
      if (fits(row)) picked.push(row);
      else waiting += 1;
    }
    return picked;
  }

  private onAnswer(row: Row, { step, answer }: RowAnswer): void {
    const { batch } = this;
    const now = Date.now();
    if (step.do === 'absent') return this.onAbsent(row, answer);
    if (step.do === 'closed') {
      row.phase = 'waiting';
      return batch.close();
    }
    if (answer.outcome === 'refused_for_now') {
      const until = answer.notBefore === null ? null : Date.parse(answer.notBefore);
      batch.limitOf(row).onNoRoom(batch.inFlight(limitKeyOf(row)), now, until);
    }
    if (step.do === 'wait') {
      Object.assign(row, { phase: 'waiting', create: step.state, notBefore: step.until });
      if (answer.outcome !== 'refused_for_now') batch.hold(callWait(step, answer));
      return;
    }
    const settled = step.answer;
    const key = creationKeyOf(batch.input.campaign, row);
    switch (settled.outcome) {
      case 'created':
        batch.hold(null);
        return this.watches.begin(row, settled, now);
      case 'rejected':
        return endOrRetry(batch, row, outcomes.rejected(settled, key, settled.sent ? 1 : 0));
      case 'unconfirmed':
        return endOrRetry(batch, row, outcomes.unconfirmed(settled, key));
    }
  }

  /**
   * Handles an attempt that was started earlier but bought nothing. Either another attempt follows, or it was the last.
   */
  private onAbsent(row: Row, { sendAttempt, account, estimate, mayBeOwed }: RowAnswer['answer']): void {
    if (row.attempt >= row.started) return buyOrKeep(this.batch, row);
    const key = creationKeyOf(this.batch.input.campaign, row);
    const common = { sendAttempt, sent: false, account, estimate, ...(mayBeOwed === true && { mayBeOwed }) };
    const message = 'The call was temporarily refused and then retried.';
    const refused = { ...common, outcome: 'rejected', reason: 'retry_later', message } as const;
    endOrRetry(this.batch, row, outcomes.rejected(refused, key, 0));
  }
}

/** Whether this is a video that was started earlier and still needs to be looked up in the journal. */
function isLookedUp(row: Row): boolean {
  const isVideo = row.spec.operation === 'create_video';
  return row.phase === 'waiting' && isVideo && isStarted(row) && row.create?.unknown === undefined;
}

const CHANGED =
  'The row was already bought with different text, so it is not bought again automatically. Request that changed rows be bought again, or give the row another ID.';
