import { ApplicationFailure, defineQuery, defineSignal, setWorkflowOptions } from '@temporalio/workflow';
import { INVALID_INPUT, QUERY, SIGNAL } from '../../domain/names';
import {
  type BatchInput,
  batchInputCheck,
  type BatchOrders,
  batchOrdersCheck,
  type BatchResult,
} from '../../domain/campaign/messages';
import { type BatchState } from '../../domain/campaign/campaign-state';
import { fits, onQuery, onSignal } from '../handlers';
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
  const issue = batchInputCheck(input, '');
  if (issue !== undefined) throw ApplicationFailure.nonRetryable(issue.message, INVALID_INPUT);
  const batch = new Batch(input);
  onSignal(campaignOrdersSignal, fits(batchOrdersCheck), (orders) => batch.work.order(orders));
  onQuery(batchStateQuery, () => batchState(batch.work));
  return batch.run();
}

setWorkflowOptions(AUTO_UPGRADE, campaignBatch);
