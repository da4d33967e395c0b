import { setTimeout as delay } from 'node:timers/promises';
import { type Client, type WorkflowHandle } from '@temporalio/client';
import { eventTime } from '../../packages/replay/src/timeline/operations';
import { type Started } from '../../src/client';
import { WORKFLOW } from '../../src/domain/names';
import { type VideoOutcome } from '../../src/domain/outcome';
import { POLL_TIMEOUTS } from '../../src/domain/timeouts';
import { type MediaStack } from '../support/media-stack';
import { describeDeep, proved } from '../support/proof';
import { resetWorkflow } from '../support/reset-workflow';
import { insist } from './campaign-kills/insist';
import { type KillSite, startKillSite } from './campaign-kills/site';
import { seededRandom } from './kills/seeded-random';

const SEED = Number(process.env['PROOF_SEED'] ?? 1);
const VIDEOS = Number(process.env['PROOF_VIDEOS'] ?? 200);
const ROUNDS = Number(process.env['PROOF_ROUNDS'] ?? 20);
/** Time between two disturbances, in milliseconds: more than it takes to get over one. */
const EVERY_MS = 10_000;
/** About how long a round takes, with the disturbance itself. */
const ROUND_MS = 1.5 * EVERY_MS;
/** Two intervals of the usual band. */
const LATE_MS = 10_000;
/** What happens around the end of a video besides its poll: the answer, and the workflow task that takes it. */
const ROUND_TRIP_MS = 2_000;
const LIMIT_MS = ROUNDS * 2 * ROUND_MS + 300_000;
const REPEAT = `PROOF_SIZE=deep PROOF_SEED=${SEED} PROOF_VIDEOS=${VIDEOS} PROOF_ROUNDS=${ROUNDS} npx jest --runTestsByPath test/proof/shared-polling.test.ts`;

const DISTURBANCES = [
  'watchers terminated',
  'kills of the worker',
  'watchers reset',
  'kills of the server',
  'kills of both',
] as const;
type Disturbance = (typeof DISTURBANCES)[number];

/** A span in which nothing could be polled, in milliseconds since the Unix epoch. */
interface Outage {
  readonly what: Disturbance;
  readonly from: number;
  readonly until: number;
}

/** How long after its end a video was known to be finished, and what happened about then. */
interface Lateness {
  readonly ms: number;
  readonly during: readonly Disturbance[];
}

/**
 * A tick that dies with its worker is repeated after its start-to-close timeout, in milliseconds: own polling waits for
 * that too.
 */
const LOST_TICK_MS = 5_000 + POLL_TIMEOUTS.overBudgetMs;

/**
 * Videos with shared polling whose worker and server are killed, and whose watchers are terminated and reset. Each ends as
 * it must, was bought once, and is known to be finished within two intervals of its end, or of the end of an outage.
 */
describeDeep('shared polling while everything is killed', () => {
  const counts: Record<string, number> = {};
  let site: KillSite | undefined;

  it(
    `[C4.4a] loses no video and buys none twice (${REPEAT})`,
    async () => {
      site = await startKillSite({ videos: 'shared' });
      const random = seededRandom(SEED);
      const { stack } = site;
      const started = await startVideos(stack, random);
      const happened = new Map<Disturbance, number>(DISTURBANCES.map((what) => [what, 0]));
      const outages: Outage[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        await delay(EVERY_MS * (0.5 + random()));
        const what = DISTURBANCES[round % DISTURBANCES.length] as Disturbance;
        const from = Date.now();
        const touched = await disturb(site, what, random);
        const lost = what.startsWith('kills') ? from + LOST_TICK_MS : 0;
        outages.push({ what, from, until: Math.max(Date.now(), lost) });
        happened.set(what, (happened.get(what) ?? 0) + touched);
      }
      const outcomes = await Promise.all(started.map((one) => insist(() => one.result())));
      const problems = outcomes.flatMap((outcome, at) =>
        outcome.outcome === 'completed' ? [] : [`video ${at}: ${outcome.outcome}`],
      );
      const seen = await lateness(stack, started, outcomes, outages);
      const late = seen.filter(({ ms }) => ms > LATE_MS + ROUND_TRIP_MS);
      const { creates } = await stack.sandbox.admin.counters();
      Object.assign(counts, {
        videos: VIDEOS,
        ...Object.fromEntries(happened),
        completed: outcomes.length - problems.length,
        'creates accepted': creates.accepted,
        'videos bought twice': creates.accepted - VIDEOS,
        'videos without their outcome': problems.length,
        'videos late by more than two intervals': late.length,
        'milliseconds that the latest was late': Math.round(Math.max(...seen.map(({ ms }) => ms))),
      });
      expect(problems).toEqual([]);
      // A run in which nothing was hit has shown nothing.
      expect([...happened].filter(([, times]) => times === 0)).toEqual([]);
      expect(creates.accepted).toBe(VIDEOS);
      expect(late).toEqual([]);
    },
    LIMIT_MS,
  );

  afterAll(async () => {
    await site?.stop();
    proved('shared-polling', counts);
  });
});

/** Their ends are spread over the disturbances. */
async function startVideos(stack: MediaStack, random: () => number): Promise<Started<VideoOutcome>[]> {
  const started: Started<VideoOutcome>[] = [];
  for (let at = 0; at < VIDEOS; at++) {
    const seconds = 10 + random() * ((ROUNDS * ROUND_MS) / 1_000);
    const request = {
      model: 'cine-1',
      prompt: `[queue:0s] [run:${seconds.toFixed(1)}s] kite ${at}`,
      durationSeconds: 2,
    };
    started.push(
      await stack.media.startVideo(
        { request, polling: 'shared', waitFor: '2h' },
        { id: stack.server.uniqueId('shared') },
      ),
    );
  }
  // A create that is killed is of unknown fate: another proof is about those.
  for (;;) {
    const { creates } = await stack.sandbox.admin.counters();
    if (creates.accepted >= VIDEOS) break;
    await delay(500);
  }
  await delay(2_000);
  return started;
}

/** @returns how many were hit */
async function disturb(site: KillSite, what: Disturbance, random: () => number): Promise<number> {
  const { stack } = site;
  switch (what) {
    case 'kills of the worker':
      await site.kill('worker');
      return 1;
    case 'kills of the server':
      await site.kill('server');
      await insist(() => stack.server.client.connection.workflowService.getSystemInfo({}));
      return 1;
    case 'kills of both':
      await site.kill('both');
      return 1;
    case 'watchers terminated': {
      const watchers = await openWatchers(stack.server.client);
      await Promise.allSettled(watchers.map((watcher) => watcher.terminate('by the proof')));
      return watchers.length;
    }
    case 'watchers reset': {
      const watchers = await openWatchers(stack.server.client);
      await Promise.allSettled(
        watchers.map(({ workflowId }) => resetWorkflow(stack.server, workflowId, random())),
      );
      return watchers.length;
    }
  }
}

async function openWatchers(client: Client): Promise<WorkflowHandle[]> {
  return insist(async () => {
    const found: WorkflowHandle[] = [];
    const query = `WorkflowType = "${WORKFLOW.watchVideos}" AND ExecutionStatus = "Running"`;
    for await (const { workflowId } of client.workflow.list({ query }))
      found.push(client.workflow.getHandle(workflowId));
    return found;
  });
}

/** How long after its end, or after the outage in which it ended, each video was known to be finished; in milliseconds. */
async function lateness(
  stack: MediaStack,
  started: readonly Started<VideoOutcome>[],
  outcomes: readonly VideoOutcome[],
  outages: readonly Outage[],
): Promise<Lateness[]> {
  const tasks = new Map((await stack.sandbox.admin.tasks()).map((task) => [task.id, task]));
  const seen: Lateness[] = [];
  for (const [at, { workflowId }] of started.entries()) {
    const outcome = outcomes[at];
    const task = outcome?.outcome === 'completed' ? tasks.get(outcome.video.taskId) : undefined;
    if (task === undefined) continue;
    const { events } = await stack.server.client.workflow.getHandle(workflowId).fetchHistory();
    // A video downloads by itself, or its file comes with the answer of its watcher.
    const last =
      (events ?? []).findLast(
        (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'media.downloadVideo',
      ) ?? (events ?? []).findLast((event) => event.activityTaskCompletedEventAttributes != null);
    const known = last === undefined ? 0 : eventTime(last);
    const finished = task.createdAt + task.queuedMs + task.runningMs;
    // An outage that began before the video had to be known.
    const over = outages.filter(({ from, until }) => from <= finished + LATE_MS && until >= finished);
    const ms = known - Math.max(finished, ...over.map(({ until }) => until));
    seen.push({ ms, during: over.map(({ what }) => what) });
  }
  return seen;
}
