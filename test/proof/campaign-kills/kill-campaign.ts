import { setTimeout as delay } from 'node:timers/promises';
import { type WorkflowHandle } from '@temporalio/client';
import { PNG } from 'pngjs';
import { createFileStore } from '../../../src/artifacts/file-store';
import { type CampaignInput } from '../../../src/domain/campaign/plan';
import { batchWorkflowId } from '../../../src/domain/campaign/book';
import { type CampaignResult, type CampaignState } from '../../../src/domain/campaign/state';
import { activityQueues, QUERY, UPDATE } from '../../../src/domain/names';
import { type Row, startCampaign, storedManifest } from '../../support/campaign';
import { type MediaStack } from '../../support/media-stack';
import { Decisions } from './decisions';
import { manifestRows } from './manifest';
import { type KillSite, type Target } from './site';

export interface KillPlan {
  readonly rows: number;
  readonly kills: number;
  /** In flight at a time, over all lanes. */
  readonly inFlight: number;
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
  /** Kills in the moment in which the parent or a lane continued as new. */
  readonly atHandovers: number;
  readonly lanes: number;
}

const TARGETS: readonly Target[] = ['worker', 'both', 'worker', 'server'];
/** A campaign of several lanes: each takes 500 rows of it. */
const WIDE = 1_500;
/** All kills come before so many of the rows were begun: the budget ends the campaign before the last of them. */
const KILLED_SHARE = 0.8;
/** Each kill comes up to this long after so many rows were begun. */
const SPREAD_MS = 4_000;

/** One campaign from its start to its end, with kills at random times of it. */
export async function runKilledCampaign(site: KillSite, plan: KillPlan): Promise<KilledCampaign> {
  const { stack } = site;
  const rows = manifestRows(plan.rows, await storedImage(stack));
  const input = {
    manifest: await storedManifest(stack, rows),
    concurrency: WIDE,
    eventsPerRun: 150,
    // Too little for all of them, so that it ends with rows that are not bought.
    budget: { microUnits: Math.round(rows.length * 150_000), currency: 'USD' },
    queues: activityQueues(stack.taskQueue),
  };
  const handle = await startCampaign(stack, rows, input);
  const id = handle.workflowId;
  const decisions = new Decisions(stack, id, rows);
  // All lanes are there before the first row is bought, and then few rows are in flight for long.
  await insist(() => handle.executeUpdate(UPDATE.pause));
  const { batches: lanes } = await untilState(handle, (state) =>
    state.batches.some(({ lastReportAt }) => lastReportAt !== null),
  );
  await insist(() => handle.executeUpdate(UPDATE.setConcurrency, { args: [{ concurrency: plan.inFlight }] }));
  await insist(() => handle.executeUpdate(UPDATE.resume));

  const kills = { worker: 0, server: 0, both: 0 };
  let atHandovers = 0;
  for (let kill = 0; kill < plan.kills; kill++) {
    const after = ((kill + plan.random()) / (plan.kills + 1)) * KILLED_SHARE * plan.rows;
    const pause = plan.random() * SPREAD_MS;
    const target = TARGETS[kill % TARGETS.length] ?? 'worker';
    const running = await untilSent(stack, handle, after);
    if (!running) break;
    if (kill % 2 === 0) await delay(pause);
    // In turn the parent and a lane.
    else if (await untilNextRun(stack, kill % 4 === 1 ? id : batchWorkflowId(id, 0))) atHandovers += 1;
    await site.kill(target);
    kills[target] += 1;
  }
  const result = await untilDone(handle, () => decisions.decideSome(handle));
  return { id, rows, input, result, decisions, kills, atHandovers, lanes: lanes.length };
}

/** The state of a campaign; undefined while nobody answers. */
export async function stateOf(handle: WorkflowHandle): Promise<CampaignState | undefined> {
  return handle.query<CampaignState>(QUERY.campaignState).catch(() => undefined);
}

async function untilState(
  handle: WorkflowHandle,
  holds: (state: CampaignState) => boolean,
): Promise<CampaignState> {
  for (;;) {
    const state = await stateOf(handle);
    if (state !== undefined && holds(state)) return state;
    await delay(250);
  }
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

/** A server that was just killed answers again in a moment. */
export async function insist<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await call();
    } catch (error) {
      if (tries >= 20) throw error;
      await delay(1_000);
    }
  }
}

async function storedImage(stack: MediaStack): Promise<string> {
  const png = new PNG({ width: 64, height: 64 });
  png.data.fill(120);
  const store = createFileStore({ root: stack.config.artifacts });
  const { sha256 } = await store.putBuffer(PNG.sync.write(png), { mediaType: 'image/png' });
  return `artifact:sha256/${sha256}`;
}
