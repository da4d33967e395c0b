import { type Client } from '@temporalio/client';
import { type CampaignState, type BatchState, SHOWN_ROWS } from '../domain/campaign/state';
import { type ActiveRow } from '../domain/campaign/messages';
import { QUERY } from '../domain/names';

/** Batches that are asked at most, and how long each may take, in milliseconds. */
const MOST_BATCHES = 3;
const BATCH_LIMIT_MS = 2_000;

/**
 * A campaign's state with its active rows as their batches know them now. What the campaign itself knows of them may be a
 * minute old: batches tell it what it needs, because every message is kept in two histories. A query is kept in none.
 */
export async function withActiveRows(client: Client, state: CampaignState): Promise<CampaignState> {
  const batches = state.batches.filter(({ inFlight }) => inFlight > 0).slice(0, MOST_BATCHES);
  if (batches.length === 0) return state;
  const active: ActiveRow[] = [];
  for (const { workflowId } of batches) {
    const rows = await rowsOf(client, workflowId);
    // Of an older worker, ended, or too busy to answer: what was told is all there is.
    if (rows === null) return state;
    active.push(...rows);
    if (active.length >= SHOWN_ROWS) break;
  }
  return { ...state, active: active.slice(0, SHOWN_ROWS) };
}

async function rowsOf(client: Client, workflowId: string): Promise<BatchState['active'] | null> {
  try {
    const { active } = await client.withDeadline(Date.now() + BATCH_LIMIT_MS, () =>
      client.workflow.getHandle(workflowId).query<BatchState>(QUERY.batchState),
    );
    return active;
  } catch {
    return null;
  }
}
