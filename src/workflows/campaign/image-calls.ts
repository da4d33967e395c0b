import { callWait } from '../../domain/video-state';
import { beginCreate, DEFAULT_START_LIMIT_MS } from '../../domain/create-once';
import { type ImageOutcome } from '../../domain/outcome';
import { type WaitingImage } from '../../domain/paid-call';
import { afterImage, isWaitingImage, imageOf, type RunImage } from '../image-call';
import { buyOrKeep, endOrRetry } from './end-row';
import { type BatchWork, isBatchClosed } from './batch-work';
import { costOf, creationKeyOf, isStarted, limitKeyOf, type Row } from './batch-rows';
import { ACTIVITY } from '../../domain/names';
import { activity } from '../proxies';
import { ancestry, inThisRun } from '../creation-key';
import { given } from '../../domain/json';

/** Maximum open image calls of one batch: each takes a minute and an activity slot of the worker. */
const OPEN_IMAGE_CALLS = 25;

/** Runs image rows: they are set aside when their page is read, then get one activity each. */
export class ImageCalls {
  private open = 0;

  constructor(private readonly batch: BatchWork) {}

  areOpen(): boolean {
    return this.open > 0;
  }

  start(now: number): void {
    const { batch } = this;
    if (batch.isLeaving()) return;
    const buys = batch.mayBuy();
    for (const row of batch.rows) {
      if (row.phase !== 'waiting' || row.spec.operation === 'create_video') continue;
      if (!buys && !isStarted(row)) continue;
      if (this.open >= OPEN_IMAGE_CALLS || batch.inFlight() >= batch.orders.slots) return;
      if (row.notBefore > now) batch.alarm.at(row.notBefore);
      else if (isStarted(row) || (this.hasRoom(row, now) && this.hasMoney(row))) void this.generate(row);
    }
  }

  private hasRoom(row: Row, now: number): boolean {
    const limit = this.batch.limitOf(row);
    if (limit.room(this.batch.inFlight(limitKeyOf(row)), now) > 0) return true;
    if (limit.opensAt() > now) this.batch.alarm.at(limit.opensAt());
    return false;
  }

  private hasMoney(row: Row): boolean {
    // A row that waited for the service already has its money.
    if (row.create !== null || row.cost > 0) return true;
    const cost = costOf(this.batch.input.campaign, row);
    if (!this.batch.budget.take(cost)) return false;
    row.cost = cost;
    return true;
  }

  /** Lets a row without a result wait with its money and position, or returns the outcome that ends it. */
  private waitOrEnd(row: Row, got: WaitingImage): ImageOutcome | undefined {
    const { batch } = this;
    const state = row.create ?? inThisRun(beginCreate(creationKeyOf(batch.input.campaign, row), Date.now()));
    const step = afterImage(state, got, { startLimitMs: DEFAULT_START_LIMIT_MS, patient: true });
    if ('outcome' in step) return step;
    Object.assign(row, { phase: 'waiting', create: step.state, notBefore: step.until });
    batch.hold(callWait(step, got));
    return undefined;
  }

  private async generate(row: Row): Promise<void> {
    const { batch } = this;
    this.open += 1;
    row.phase = 'generating';
    try {
      const isLookedUp = isStarted(row);
      const got = await generateImageOf(row, batch);
      if (isBatchClosed(got)) {
        Object.assign(row, { phase: 'waiting' });
        batch.close();
        return;
      }
      const outcome = isWaitingImage(got) ? this.waitOrEnd(row, got) : got;
      if (outcome === undefined) return;
      if (isLookedUp && row.attempt >= row.started && isAbsent(outcome)) {
        buyOrKeep(batch, row);
        return;
      }
      if (outcome.outcome === 'completed') {
        batch.limitOf(row).onSuccess();
        batch.hold(null);
      }
      if (outcome.outcome === 'rejected' && NO_ROOM.includes(outcome.reason)) {
        const until = outcome.notBefore === undefined ? null : Date.parse(outcome.notBefore);
        batch.limitOf(row).onNoRoom(batch.inFlight(limitKeyOf(row)), Date.now(), until);
      }
      endOrRetry(batch, row, outcome);
    } finally {
      this.open -= 1;
      batch.wake();
    }
  }
}

/** Whether a call that was started before bought nothing. */
function isAbsent(outcome: ImageOutcome): boolean {
  return outcome.outcome === 'rejected' && ['not_sent', 'retry_later'].includes(outcome.reason);
}

const NO_ROOM: readonly string[] = ['capacity', 'retry_later'];

/** Runs one image row: a plain activity with its own retries, as for single images. Never throws. */
export function generateImageOf(row: Row, { input, payer }: BatchWork): Promise<ImageOutcome | WaitingImage> {
  const { campaign, settings } = input;
  const { account, policy, queues } = settings;
  const creationKey = creationKeyOf(campaign, row);
  const startLimitMs = DEFAULT_START_LIMIT_MS;
  const run: RunImage = (limitMs, summary, recordedSince) =>
    activity(ACTIVITY.campaignImage, { taskQueue: queues.image, startLimitMs: limitMs, summary })({
      page: { index: row.set.set.index, page: row.set.set.page },
      index: row.index,
      creationKey,
      payer,
      ...ancestry(),
      ...(isStarted(row) && { recordedOnly: true }),
      ...given({ recordedSince, account, policy }),
    });
  const facts = { model: row.spec.model, account: row.spec.account ?? account ?? null };
  const { operation: summary } = row.spec;
  return imageOf(run, { creationKey, taskQueue: queues.image, startLimitMs, summary, facts });
}
