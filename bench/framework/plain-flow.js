'use strict';
// Plain videos in flight, a `generateVideo` each, polled by their own workflow or by watchers; they end and begin all the time.
const { setTimeout } = require('node:timers/promises');
const { actionsOf, workBetween } = require('./actions.js');
const { inOwnStack } = require('./campaign-flow.js');
const { MODEL, promptOf } = require('./campaign-rows.js');
const { between, checkWork } = require('./flow-look.js');
const { watchMemory } = require('./process-usage.js');
const { refill } = require('./refill.js');
const { summary } = require('./statistics.js');

/** Until as many end as begin: an end is known some seconds late. */
const SETTLE_MS = 20_000;
const STARTERS = 10;
/** Histories of ended videos that are looked at; the others are like them. */
const SAMPLE = 40;

/**
 * Starts until `inFlight` videos are there or `rampMs` is over; measures for `windowMs`, once the first of them end.
 * @param startsPerSecond what is expected: it says when the first ones end
 * @param onLook called at both ends of the window
 */
async function measurePlain(context, size) {
  const { inFlight, seconds, polling, windowMs, rampMs, startsPerSecond, onLook } = size;
  return inOwnStack(
    context,
    async (stack) => {
      const { client, sandbox, worker, media } = stack;
      const start = (n, runSeconds) => {
        const request = {
          model: MODEL,
          prompt: promptOf(n, runSeconds),
          durationSeconds: 3,
          resolution: '480p',
        };
        return media.startVideo({ request, waitFor: '24h', polling }, { id: `bench-plain-${n}` });
      };
      const memory = watchMemory(worker.pid, 500);
      const beganAt = Date.now();
      const until = beganAt + rampMs;
      const leadMs = Math.min(rampMs, (inFlight / startsPerSecond + 10) * 1000);
      let next = 0;
      const starter = async () => {
        while (next < inFlight && Date.now() < until) {
          const n = next++;
          const endsAt = beganAt + leadMs + (seconds * 1000 * (n + 1)) / inFlight;
          await start(n, Math.max(1, (endsAt - Date.now()) / 1000));
        }
      };
      await Promise.all(Array.from({ length: STARTERS }, starter));
      const created = async () =>
        (await sandbox.admin.counters({ prompts: false })).operations.create.accepted;
      while ((await created()) < next && Date.now() < until) await setTimeout(500);
      const reached = await created();
      context.say(
        `${reached} of ${inFlight} in flight, polling ${polling}, after ${Math.round((Date.now() - beganAt) / 1000)} s`,
      );
      await setTimeout(Math.max(0, beganAt + leadMs - Date.now()));
      const settleMs = Math.min(SETTLE_MS, windowMs);
      const ends = Date.now() + settleMs + windowMs;
      const refilling = refill(ends, inFlight / seconds, () => start(next++, seconds));
      await setTimeout(settleMs);
      await sandbox.admin.pollGaps({ begin: true });
      const first = await checkWork(stack);
      onLook();
      await setTimeout(windowMs);
      const last = await checkWork(stack);
      onLook();
      const gaps = await sandbox.admin.pollGaps();
      await refilling;
      const work = between(first, last);
      const videos = last.downloads - first.downloads;
      const watchers = await workBetween(client, 'watchVideos', first.at, last.at);
      return {
        server: stack.serverVersion,
        design: polling,
        inFlight,
        runSeconds: seconds,
        reached,
        gaps,
        ...work,
        ...(await endedVideos(stack, first.at)),
        watcherActionsPerVideo: videos === 0 ? null : watchers.actions / videos,
        watcherEventsPerVideo: videos === 0 ? null : watchers.events / videos,
        peakBytes: memory.stop(),
      };
    },
    // As docs/how-many-videos.md advises: a video that has left the memory of the worker is replayed at its end.
    { env: () => ({ MEDIA_CACHED_WORKFLOWS: String(Math.max(2_000, Math.ceil(1.25 * inFlight))) }) },
  );
}

/** Events and actions of videos that ended since, and the time from the end of the task to the outcome with its file. */
async function endedVideos({ client, sandbox }, since) {
  const tasks = new Map((await sandbox.admin.tasks()).map((task) => [task.id, task]));
  const query = 'WorkflowType = "generateVideo" AND ExecutionStatus = "Completed"';
  const found = [];
  for await (const { workflowId, closeTime } of client.workflow.list({ query })) {
    if (closeTime.getTime() < since) continue;
    const handle = client.workflow.getHandle(workflowId);
    const [history, outcome] = await Promise.all([handle.fetchHistory(), handle.result()]);
    const task = tasks.get(outcome.video?.taskId);
    const events = history.events ?? [];
    found.push({
      events: events.length,
      actions: actionsOf(events),
      ...(task !== undefined && {
        lagMs: closeTime.getTime() - (task.createdAt + task.queuedMs + task.runningMs),
      }),
    });
    if (found.length >= SAMPLE) break;
  }
  const mean = (key) =>
    found.length === 0 ? null : found.reduce((sum, one) => sum + one[key], 0) / found.length;
  const lags = found.flatMap(({ lagMs }) => (lagMs === undefined ? [] : [lagMs]));
  return {
    eventsPerVideo: mean('events'),
    actionsPerVideo: mean('actions'),
    lagMs: lags.length === 0 ? null : summary(lags, 0),
  };
}

module.exports = { measurePlain };
