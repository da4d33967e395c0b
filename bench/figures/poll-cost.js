'use strict';
// What a poll costs when nothing else happens: tasks in watchers and tasks in a campaign's batches.
const { setTimeout } = require('node:timers/promises');
const { joinWatcher } = require('../../lib/activities/watchers.js');
const { watchersOf, MAX_WATCHES } = require('../../lib/domain/watcher.js');
const { inOwnStack, startFlow } = require('../framework/campaign-flow.js');
const { flowRows, MODEL, promptOf } = require('../framework/campaign-rows.js');
const { between, checkWork } = require('../framework/flow-look.js');
const { inSeconds } = require('../framework/flow-table.js');
const { goal } = require('../framework/goal.js');
const { API_KEY } = require('../framework/media-stack.js');
const { round } = require('../framework/statistics.js');

const title = 'CPU per poll in watchers and in batches, while no video starts or ends';
const SIZES = [1_000, 4_000, 8_000];
const QUICK = [20];
const DESIGNS = ['watchers', 'batches'];
/** Longer than a measurement. */
const RUN_SECONDS = 86_400;
/** After the first polls, which are more expensive than later ones. */
const SETTLE_MS = 15_000;
const CREATORS = 20;

async function run(context) {
  const { quick, minutes, say } = context;
  const windowMs = quick ? 10_000 : Math.min(minutes, 1) * 60_000;
  const measured = [];
  for (const tasks of quick ? QUICK : chosen())
    for (const design of DESIGNS) {
      const begin = design === 'watchers' ? watchTasks : runRows;
      measured.push({ design, tasks, ...(await measure(context, { begin, tasks, windowMs })) });
      say(`${tasks} tasks in ${design}: done`);
    }
  return {
    server: measured[0].server,
    values: measured,
    table: table(measured),
    goals: measured.map((one) =>
      goal(`a poll of ${one.tasks} tasks in ${one.design}`, round(one.msPerPoll, 2), '<=', 0.3, 'ms'),
    ),
    notes: [
      'Each line has its own server, database, sandbox and worker, all on this machine. No task starts or ends.',
      "Tasks in watchers were created at the sandbox and joined to watchers directly, so no video's workflow is running. Tasks in batches are rows of a campaign.",
      'CPU is of server and worker, with what they use while idle.',
    ],
  };
}

/** `BENCH_SIZES=1000,4000` measures only these sizes. */
function chosen() {
  return process.env.BENCH_SIZES?.split(',').map(Number) ?? SIZES;
}

async function measure(context, { begin, tasks, windowMs }) {
  return inOwnStack(context, async (stack) => {
    await begin(stack, tasks);
    await setTimeout(SETTLE_MS);
    await stack.sandbox.admin.pollGaps({ begin: true });
    const first = await checkWork(stack);
    await setTimeout(windowMs);
    const work = between(first, await checkWork(stack));
    const gaps = await stack.sandbox.admin.pollGaps();
    const msPerPoll = work.serverMsPerPoll + work.workerMsPerPoll;
    return { server: stack.serverVersion, gaps, ...work, msPerPoll };
  });
}

/** Lets watchers poll tasks that have no workflows. */
async function watchTasks({ client, media, sandbox, taskQueue }, tasks) {
  const { waiter, state, pollQueue } = await firstWatch(client, media);
  const ids = await createTasks(sandbox, tasks - 1);
  const groups = new Map();
  for (const [at, taskId] of ids.entries()) {
    const video = { ...state.video, taskId };
    const [common, other] = watchersOf(video, { taskQueue, pollQueue });
    // The common watcher has the first video, which is one of the tasks.
    const watcher = at < MAX_WATCHES - 1 ? common : other;
    const { joins } = groups.get(watcher.workflowId) ?? { joins: [] };
    joins.push({ waiter: { ...waiter, workflowId: `nobody-${at}` }, state: { ...state, video } });
    groups.set(watcher.workflowId, { watcher, joins });
  }
  for (const { watcher, joins } of groups.values()) await joinWatcher(client, watcher, joins);
}

/** Starts one real video, and returns its watch as the pattern for the others. */
async function firstWatch(client, media) {
  const request = { model: MODEL, prompt: promptOf(0, RUN_SECONDS), durationSeconds: 3, resolution: '480p' };
  await media.startVideo({ request, waitFor: '24h', polling: 'shared' }, { id: 'bench-first' });
  for (;;) {
    await setTimeout(500);
    const { watcher } = await client.workflow.getHandle('bench-first').query('video_state');
    if (watcher === undefined) continue;
    const contents = await client.workflow
      .getHandle(watcher)
      .query('watch_snapshot')
      .catch(() => undefined);
    const [watch] = contents?.watches ?? [];
    if (watch !== undefined) return { ...watch, pollQueue: contents.input.pollQueue };
  }
}

async function createTasks({ url }, count) {
  const ids = [];
  let next = 0;
  const creator = async () => {
    while (next < count) {
      const n = (next += 1);
      const reply = await fetch(`${url}/v1/videos`, {
        method: 'POST',
        headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: MODEL,
          prompt: promptOf(n, RUN_SECONDS),
          duration: 3,
          resolution: '480p',
        }),
      });
      const { id } = await reply.json();
      if (typeof id !== 'string') throw new Error(`A create came to ${reply.status}.`);
      ids.push(id);
    }
  };
  await Promise.all(Array.from({ length: CREATORS }, creator));
  return ids;
}

/** Runs a campaign whose rows never end. */
async function runRows(stack, tasks) {
  const forever = { inFlight: tasks, rate: 1, count: tasks, leadSeconds: RUN_SECONDS, startsPerSecond: 1 };
  await startFlow(stack, { id: 'bench-polls', rows: flowRows(forever), inFlight: tasks });
  const created = async () =>
    (await stack.sandbox.admin.counters({ prompts: false })).operations.create.accepted;
  while ((await created()) < tasks) await setTimeout(500);
}

function table(measured) {
  const sizes = [...new Set(measured.map(({ tasks }) => tasks))];
  return {
    columns: [
      'tasks',
      ...DESIGNS.flatMap((name) => [`ms per poll in ${name}`, `p95 of the gap in ${name}, s`]),
    ],
    rows: sizes.map((size) => [
      size.toLocaleString('en'),
      ...DESIGNS.flatMap((name) => {
        const one = measured.find(({ design, tasks }) => design === name && tasks === size);
        return [round(one.msPerPoll, 2), inSeconds(one.gaps.p95)];
      }),
    ]),
  };
}

module.exports = { title, run };
