import { continueAsNew, defineQuery, defineSignal, setHandler } from '@temporalio/workflow';
import { QUERY, SIGNAL } from '../../domain/names';
import { type LaneInput } from '../../domain/campaign/lane-state';
import { type LaneOrders } from '../../domain/campaign/messages';
import { type LaneState } from '../../domain/campaign/state';
import { Lane } from './lane';
import { laneState } from './lane-view';

export const campaignOrdersSignal = defineSignal<[LaneOrders]>(SIGNAL.campaignOrders);
const laneStateQuery = defineQuery<LaneState>(QUERY.laneState);

/**
 * One lane of a campaign: hundreds of rows in flight with one poll loop (design 4.11). Started by `runCampaign`, which it
 * outlives for as long as something is bought; it continues as new by draining, so that no row is lost or repeated.
 */
export async function campaignLane(input: LaneInput): Promise<void> {
  const lane = new Lane(input);
  setHandler(campaignOrdersSignal, (orders) => lane.order(orders));
  setHandler(laneStateQuery, () => laneState(lane));
  const end = await lane.run();
  if (end !== 'ended') await continueAsNew<typeof campaignLane>({ ...input, carried: end });
}
