import { DEFAULT_START_LIMIT_MS } from '../../domain/create-once';
import { type ImageOutcome } from '../../domain/outcome';
import { type WaitingImage } from '../../domain/paid-call';
import { imageOf, type RunImage } from '../image-call';
import { campaignImageActivity } from '../proxies';
import { type BatchWork } from './batch-work';
import { creationKeyOf, isStarted, type Row } from './row';

/** Runs one image row: a plain activity with its own retries, as for single images. Never throws. */
export function generateImageOf(row: Row, { input, payer }: BatchWork): Promise<ImageOutcome | WaitingImage> {
  const { campaign, settings } = input;
  const { account, policy, queues } = settings;
  const creationKey = creationKeyOf(campaign, row);
  const startLimitMs = DEFAULT_START_LIMIT_MS;
  const run: RunImage = (limitMs, summary, recordedSince) =>
    campaignImageActivity({ taskQueue: queues.image, startLimitMs: limitMs, summary })({
      page: { index: row.set.set.index, page: row.set.set.page },
      index: row.index,
      creationKey,
      payer,
      ...(isStarted(row) && { recordedOnly: true }),
      ...(recordedSince !== undefined && { recordedSince }),
      ...(account === undefined ? {} : { account }),
      ...(policy === undefined ? {} : { policy }),
    });
  const facts = { model: row.spec.model, account: row.spec.account ?? account ?? null };
  const { operation: summary } = row.spec;
  return imageOf(run, { creationKey, taskQueue: queues.image, startLimitMs, summary, facts });
}
