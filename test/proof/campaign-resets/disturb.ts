import { type WorkflowHandle } from '@temporalio/client';
import { type CampaignInput } from '../../../src/domain/campaign/plan';
import { campaignStateOf, type Row, startCampaign } from '../../support/campaign';
import { type MediaStack } from '../../support/media-stack';
import { resetWorkflow } from '../../support/reset-workflow';
import { insist } from '../campaign-kills/insist';

/** What befalls a campaign: words that stand in the title of a test and in what is counted. */
export const DISTURBANCES = [
  'campaigns reset to their first task',
  'campaigns reset to half of their tasks',
  'campaigns reset to nine tenths of their tasks',
  'campaigns reset to their last task',
  'campaigns terminated and started again',
  'campaigns terminated and reset',
  'batches reset by hand',
  'batches terminated',
] as const;

export type Disturbance = (typeof DISTURBANCES)[number];

export interface DisturbedCampaign {
  readonly id: string;
  readonly rows: readonly Row[];
  readonly input: Partial<CampaignInput>;
}

const KEPT: { readonly [what in Disturbance]?: number } = {
  'campaigns reset to their first task': 0,
  'campaigns reset to half of their tasks': 0.5,
  'campaigns reset to nine tenths of their tasks': 0.9,
  'campaigns reset to their last task': 1,
};

/** Does it to a campaign that runs. @param random in [0, 1): which batch, and how much of a history is kept */
export async function disturb(
  stack: MediaStack,
  { id, rows, input }: DisturbedCampaign,
  what: Disturbance,
  random: () => number,
): Promise<void> {
  const { server } = stack;
  const reset = (workflowId: string, place: number) => insist(() => resetWorkflow(server, workflowId, place));
  const kept = KEPT[what];
  if (kept !== undefined) return void (await reset(id, kept));
  const handle = server.client.workflow.getHandle(id);
  switch (what) {
    case 'campaigns terminated and started again': {
      // What is known of it by then: its client hands that on.
      const { results: previous } = await insist(() => campaignStateOf(handle));
      await insist(() => handle.terminate(what).catch(isOverAlready));
      return void (await insist(() => startCampaign(stack, rows, { ...input, previous }, id)));
    }
    case 'campaigns terminated and reset':
      // A run that was terminated before its first workflow task has nothing to be reset to.
      await insist(() => campaignStateOf(handle));
      await insist(() => handle.terminate(what).catch(isOverAlready));
      await reset(id, random());
      return insist(() => lookNow(handle));
    default: {
      const batch = await someBatch(handle, random);
      if (what === 'batches reset by hand') return void (await reset(batch, 0));
      await insist(() => server.client.workflow.getHandle(batch).terminate(what).catch(isOverAlready));
    }
  }
}

/** An order: batches that say nothing are looked for after minutes otherwise. */
async function lookNow(handle: WorkflowHandle): Promise<void> {
  const { concurrency } = await campaignStateOf(handle);
  await handle.executeUpdate('setConcurrency', { args: [{ concurrency: concurrency + 1 }] });
}

/** One of the batches that are open, as the campaign has it. */
async function someBatch(handle: WorkflowHandle, random: () => number): Promise<string> {
  return insist(async () => {
    const open = (await campaignStateOf(handle)).batches.filter(({ lastReportAt }) => lastReportAt !== null);
    const batch = open[Math.floor(random() * open.length)];
    if (batch === undefined) throw new Error('No batch is open that has said anything');
    return batch.workflowId;
  });
}

function isOverAlready(error: unknown): void {
  if ((error as { name?: unknown }).name !== 'WorkflowNotFoundError') throw error;
}
