import { continueAsNew, defineSignal, setHandler } from '@temporalio/workflow';
import { SIGNAL } from '../../domain/names';
import { type LaneInput } from '../../domain/campaign/lane-state';
import { type LaneOrders } from '../../domain/campaign/messages';
import { Lane } from './lane';

export const campaignOrdersSignal = defineSignal<[LaneOrders]>(SIGNAL.campaignOrders);

/**
 * One lane of a campaign: hundreds of rows in flight with one poll loop (design 4.11). Started by `runCampaign`, which it
 * outlives for as long as something is bought; it continues as new by draining, so that no row is lost or repeated.
 */
export async function campaignLane(input: LaneInput): Promise<void> {
  const lane = new Lane(input);
  setHandler(campaignOrdersSignal, (orders) => lane.order(orders));
  const end = await lane.run();
  if (end !== 'ended') await continueAsNew<typeof campaignLane>({ ...input, carried: end });
}
