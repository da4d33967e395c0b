import { type WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import { type CampaignResult, type CampaignState } from '../../src/domain/campaign/campaign-state';
import { type CampaignInput } from '../../src/domain/campaign/plan';
import { type ResultsRef } from '../../src/domain/campaign/results';
import { type CampaignRowResult } from '../../src/domain/campaign/row';
import { QUERY, WORKFLOW } from '../../src/domain/names';
import { readResults } from '../../src/manifest/result-lines';
import { openArtifactStore } from '../../src/stores';
import { type runCampaign } from '../../src/workflows/campaign/run-campaign';
import { type MediaStack } from './media-stack';

export type Row = { readonly [column: string]: unknown };

/** A manifest as an artifact of the stack's store. */
export async function storedManifest(
  stack: MediaStack,
  rows: readonly Row[],
): Promise<CampaignInput['manifest']> {
  const store = await openArtifactStore(stack.config);
  const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  const artifact = await store.putBuffer(Buffer.from(text), { mediaType: 'application/jsonl' });
  return { source: { artifact }, format: 'jsonl' };
}

/** All activities on the one queue of the stack. */
export function queuesOf({ taskQueue }: MediaStack): NonNullable<CampaignInput['queues']> {
  return { create: taskQueue, poll: taskQueue, download: taskQueue, image: taskQueue };
}

export async function startCampaign(
  stack: MediaStack,
  rows: readonly Row[],
  input: Partial<CampaignInput> = {},
  id = stack.server.uniqueId('campaign'),
): Promise<WorkflowHandleWithFirstExecutionRunId<typeof runCampaign>> {
  const manifest = input.manifest ?? (await storedManifest(stack, rows));
  return stack.server.client.workflow.start<typeof runCampaign>(WORKFLOW.runCampaign, {
    taskQueue: stack.taskQueue,
    workflowId: id,
    args: [{ queues: queuesOf(stack), ...input, manifest }],
  });
}

export async function campaignStateOf(handle: {
  query<T>(name: string): Promise<T>;
}): Promise<CampaignState> {
  return handle.query<CampaignState>(QUERY.campaignState);
}

/** The line of each row that stands: of the newest plan, by key. */
export async function resultsOf(
  stack: MediaStack,
  results: ResultsRef,
): Promise<Map<string, CampaignRowResult>> {
  const store = await openArtifactStore(stack.config);
  const latest = new Map<string, CampaignRowResult>();
  for await (const row of readResults(store, results)) {
    const had = latest.get(row.key);
    if (had === undefined || had.generation <= row.generation) latest.set(row.key, row);
  }
  return latest;
}

export type { CampaignResult };
