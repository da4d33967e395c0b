import { type Client } from '@temporalio/client';
import { type CampaignState, type LaneState, SHOWN_ROWS } from '../domain/campaign/state';
import { type ActiveRow } from '../domain/campaign/messages';
import { QUERY } from '../domain/names';

/** Lanes that are asked at most, and how long each may take, in milliseconds. */
const MOST_LANES = 3;
const LANE_LIMIT_MS = 2_000;

/**
 * A campaign's state with its active rows as their lanes know them now. What the campaign itself knows of them may be a
 * minute old: lanes tell it what it needs, because every message is kept in two histories. A query is kept in none.
 */
export async function withActiveRows(client: Client, state: CampaignState): Promise<CampaignState> {
  const lanes = state.lanes.filter(({ inFlight }) => inFlight > 0).slice(0, MOST_LANES);
  const active: ActiveRow[] = [];
  for (const { workflowId } of lanes) {
    if (active.length >= SHOWN_ROWS) break;
    const lane = await laneState(client, workflowId);
    // Of an older worker, ended, or too busy to answer: what was told is all there is.
    if (lane === undefined) return state;
    active.push(...lane.active);
  }
  return active.length === 0 ? state : { ...state, active: active.slice(0, SHOWN_ROWS) };
}

async function laneState(client: Client, workflowId: string): Promise<LaneState | undefined> {
  try {
    return await client.withDeadline(Date.now() + LANE_LIMIT_MS, () =>
      client.workflow.getHandle(workflowId).query<LaneState>(QUERY.laneState),
    );
  } catch {
    return undefined;
  }
}
