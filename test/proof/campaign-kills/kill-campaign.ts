import { setTimeout as delay } from 'node:timers/promises';
import { type WorkflowHandle } from '@temporalio/client';
import { PNG } from 'pngjs';
import { type CampaignResult } from '../../../src/domain/campaign/campaign-state';
import { type CampaignInput } from '../../../src/domain/campaign/plan';
import { activityQueues } from '../../../src/domain/names';
import { openArtifactStore } from '../../../src/stores';
import { campaignStateOf, type Row, startCampaign, storedManifest } from '../../support/campaign';
import { type MediaStack } from '../../support/media-stack';
import { disturb, type Disturbance } from '../campaign-resets/disturb';
import { Decisions } from './decisions';
import { manifestRows } from './manifest';
import { type KillSite, type Target } from './site';

export interface KillPlan {
  readonly rows: number;
  readonly kills: number;
  /** In flight at a time, over all batches. */
  readonly inFlight: number;
  /** What else befalls the campaign, and when: shares of the time in which it is killed. */
  readonly disturbed: readonly (readonly [share: number, what: Disturbance])[];
  /** In [0, 1). */
  readonly random: () => number;
}

export interface KilledCampaign {
  readonly id: string;
  readonly rows: readonly Row[];
  readonly input: CampaignInput;
  readonly result: CampaignResult;
  readonly decisions: Decisions;
  readonly kills: Readonly<Record<Target, number>>;
  /** Kills in the moment in which the campaign continued as new or a batch gave its rows back. */
  readonly atHandovers: number;
  readonly disturbances: readonly Disturbance[];
}

const TARGETS: readonly Target[] = ['worker', 'both', 'worker', 'server'];
/** All kills come before so many of the rows were started: the budget ends the campaign before the last of them. */
const KILLED_SHARE = 0.8;
/** Each kill comes up to this long after so many rows were started. */
const SPREAD_MS = 4_000;

/** One campaign from its start to its end, with kills at random times of it. */
export async function runKilledCampaign(site: KillSite, plan: KillPlan): Promise<KilledCampaign> {
  const { stack } = site;
  const { inFlight, random } = plan;
  const rows = manifestRows(plan.rows, await storedImage(stack));
  const input = {
    manifest: await storedManifest(stack, rows),
    concurrency: inFlight,
    // Several are open at a time, and each has more rows than are in flight for it.
    rowsPerBatch: Math.ceil(inFlight * 0.75),
    // A small campaign continues as new, too.
    eventsPerRun: Math.min(150, plan.rows),
    // Too little for all of them, so that it ends with rows that are not bought.
    budget: { microUnits: Math.round(rows.length * 150_000), currency: 'USD' },
    queues: activityQueues(stack.taskQueue),
  };
  const { workflowId: id } = await startCampaign(stack, rows, input);
  const handle = stack.server.client.workflow.getHandle(id);
  const decisions = new Decisions(stack, id, rows);
  const kills = { worker: 0, server: 0, both: 0 };
  const disturbances: Disturbance[] = [];
  let atHandovers = 0;

  async function kill(n: number): Promise<void> {
    const target = TARGETS[n % TARGETS.length] ?? 'worker';
    if (n % 2 === 0) await delay(random() * SPREAD_MS);
    // In turn the campaign and a batch.
    else if (n % 4 === 1 ? await untilNextRun(stack, id) : await untilBatchEnds(stack, handle))
      atHandovers += 1;
    await site.kill(target);
    kills[target] += 1;
  }

  const steps = [
    ...Array.from({ length: plan.kills }, (_, n) => ({
      after: (n + random()) / (plan.kills + 1),
      take: () => kill(n),
    })),
    ...plan.disturbed.map(([after, what]) => ({
      after,
      take: async () => {
        await disturb(stack, { id, rows, input }, what, random);
        disturbances.push(what);
      },
    })),
  ].sort((a, b) => a.after - b.after);
  for (const { after, take } of steps) {
    const running = await untilSent(stack, handle, Math.max(1, after * KILLED_SHARE * plan.rows));
    if (!running) break;
    await take();
  }
  const result = await untilDone(handle, () => decisions.decideSome(handle));
  return { id, rows, input, result, decisions, kills, atHandovers, disturbances };
}

/** Until a workflow continues as new, or half a minute. @returns whether it did */
async function untilNextRun({ server }: MediaStack, workflowId: string): Promise<boolean> {
  const runOf = () =>
    server.client.workflow
      .getHandle(workflowId)
      .describe()
      .then(
        ({ runId }) => runId,
        () => undefined,
      );
  const before = await runOf();
  for (const end = Date.now() + 30_000; Date.now() < end; await delay(20)) {
    const now = await runOf();
    if (now !== undefined && now !== before) return true;
  }
  return false;
}

/** Until one of the open batches returns, or half a minute: most of them have rows left. @returns whether one did */
async function untilBatchEnds({ server }: MediaStack, campaign: WorkflowHandle): Promise<boolean> {
  const [batch] = (await campaignStateOf(campaign).catch(() => undefined))?.batches ?? [];
  if (batch === undefined) return false;
  const handle = server.client.workflow.getHandle(batch.workflowId);
  for (const end = Date.now() + 30_000; Date.now() < end; await delay(20))
    if ((await isClosed(handle)) === true) return true;
  return false;
}

/** @returns false when the campaign has ended before */
async function untilSent(stack: MediaStack, handle: WorkflowHandle, count: number): Promise<boolean> {
  for (;;) {
    const { creates, images } = await stack.sandbox.admin.counters();
    if (creates.received + images.received >= count) return true;
    if ((await isClosed(handle)) === true) return false;
    await delay(200);
  }
}

export async function untilDone(
  handle: WorkflowHandle,
  meanwhile: () => Promise<void> = () => Promise.resolve(),
): Promise<CampaignResult> {
  while ((await isClosed(handle)) !== true) {
    await meanwhile();
    await delay(1_000);
  }
  return (await handle.result()) as CampaignResult;
}

async function isClosed(handle: WorkflowHandle): Promise<boolean | undefined> {
  try {
    return (await handle.describe()).status.name !== 'RUNNING';
  } catch {
    return undefined;
  }
}

async function storedImage(stack: MediaStack): Promise<string> {
  const png = new PNG({ width: 64, height: 64 });
  png.data.fill(120);
  const store = await openArtifactStore(stack.config);
  const { sha256 } = await store.putBuffer(PNG.sync.write(png), { mediaType: 'image/png' });
  return `artifact:sha256/${sha256}`;
}
