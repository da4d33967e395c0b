import { defineQuery, defineSignal, setHandler, setWorkflowOptions } from '@temporalio/workflow';
import { QUERY, SIGNAL } from '../../domain/names';
import { type BatchInput, type BatchOrders, type BatchResult } from '../../domain/campaign/messages';
import { type BatchState } from '../../domain/campaign/campaign-state';
import { AUTO_UPGRADE } from '../versioning-behavior';
import { Batch } from './batch';
import { batchState } from './batch-view';

export const campaignOrdersSignal = defineSignal<[BatchOrders]>(SIGNAL.campaignOrders);
const batchStateQuery = defineQuery<BatchState>(QUERY.batchState);

/**
 * Processes up to 1,250 rows of a campaign: creates, polls, downloads and records results, with one poll loop for all.
 * Started by `runCampaign`, to which it returns the unfinished rows. It never continues as new.
 */
export async function campaignBatch(input: BatchInput): Promise<BatchResult> {
  const batch = new Batch(input);
  setHandler(campaignOrdersSignal, (orders) => batch.work.order(orders));
  setHandler(batchStateQuery, () => batchState(batch.work));
  return batch.run();
}

setWorkflowOptions(AUTO_UPGRADE, campaignBatch);
