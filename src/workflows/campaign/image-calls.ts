import { afterImage, beginCreate, DEFAULT_START_LIMIT_MS } from '../../domain/create-once';
import { given } from '../../domain/json';
import { ACTIVITY } from '../../domain/names';
import { type ImageOutcome } from '../../domain/outcome';
import { type WaitingImage } from '../../domain/paid-call';
import { callWait } from '../../domain/video-state';
import { ancestry, inThisRun } from '../creation-key';
import { isWaitingImage, imageOf, type RunImage } from '../image-call';
import { activity } from '../proxies';
import { creationKeyOf, isStarted, limitKeyOf, type Row } from './batch-rows';
import { type BatchWork, isBatchClosed } from './batch-work';
import { endOrRetry } from './end-row';
import { buyOrKeep } from './unbought-rows';

/** Maximum open image calls per batch. Each takes about a minute and occupies one of the worker's activity slots. */
const OPEN_IMAGE_CALLS = 25;

/** Runs image rows. The rows are set aside when their page is read, and each is then run in its own activity. */
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
      else if (isStarted(row) || this.mayStart(row, now)) void this.generate(row);
    }
  }

  private mayStart(row: Row, now: number): boolean {
    return this.batch.hasRoom(row, this.batch.inFlight(limitKeyOf(row)), now) && this.batch.takeMoney(row);
  }

  /**
   * Lets a row without a result keep its money and its slot while it waits, or returns the outcome that ends the row.
   */
  private waitOrEnd(row: Row, got: WaitingImage): ImageOutcome | undefined {
    const { batch } = this;
    const state = row.create ?? inThisRun(beginCreate(creationKeyOf(batch.input.campaign, row), Date.now()));
    const step = afterImage(state, got, {
      ...{ now: Date.now(), random: Math.random() },
      ...{ startLimitMs: DEFAULT_START_LIMIT_MS, waitsForFix: true },
    });
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
        return batch.close();
      }
      const outcome = isWaitingImage(got) ? this.waitOrEnd(row, got) : got;
      if (outcome === undefined) return;
      if (isLookedUp && row.attempt >= row.started && isAbsent(outcome)) return buyOrKeep(batch, row);
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

/** Whether a call that was started earlier bought nothing. */
function isAbsent(outcome: ImageOutcome): boolean {
  return outcome.outcome === 'rejected' && ['not_sent', 'retry_later'].includes(outcome.reason);
}

const NO_ROOM: readonly string[] = ['capacity', 'retry_later'];

/** Runs one image row as a plain activity with its own retries, like a single image call. Never throws. */
function generateImageOf(row: Row, { input, payer }: BatchWork): Promise<ImageOutcome | WaitingImage> {
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
