import { DEFAULT_START_LIMIT_MS } from '../../domain/create-once';
import { type ImageOutcome } from '../../domain/outcome';
import { type WaitingImage } from '../../domain/paid-call';
import { type LaneSettings } from '../../domain/campaign/lane-state';
import { imageOf, type RunImage } from '../image-call';
import { campaignImageActivity } from '../proxies';
import { creationKeyOf, isBegun, type LaneRow } from './lane-row';

/** One image row: a plain activity with its own retries, as for single images (design 4.8). Never throws. */
export function drawRow(
  row: LaneRow,
  campaign: string,
  settings: LaneSettings,
): Promise<ImageOutcome | WaitingImage> {
  const { account, policy, queues } = settings;
  const creationKey = creationKeyOf(campaign, row);
  const startLimitMs = DEFAULT_START_LIMIT_MS;
  const run: RunImage = (limitMs, summary, recordedSince) =>
    campaignImageActivity({ taskQueue: queues.image, startLimitMs: limitMs, summary })({
      page: { index: row.lease.index, page: row.lease.page },
      index: row.index,
      creationKey,
      ...(isBegun(row) && { recordedOnly: true }),
      ...(recordedSince !== undefined && { recordedSince }),
      ...(account === undefined ? {} : { account }),
      ...(policy === undefined ? {} : { policy }),
    });
  const facts = { model: row.spec.model, account: row.spec.account ?? account ?? null };
  const { operation: summary } = row.spec;
  return imageOf(run, { creationKey, taskQueue: queues.image, startLimitMs, summary, facts });
}
