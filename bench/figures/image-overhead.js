'use strict';
// Extra cost of an image as an activity over a bare POST: same sandbox, same body, in turns. A hand-written activity
// around the same POST separates Temporal's part from ours.
const { performance } = require('node:perf_hooks');
const { Pool } = require('undici');
const { bareImage, IMAGE_BODY } = require('../framework/bare-image.js');
const { startBenchChild } = require('../framework/child.js');
const { goal } = require('../framework/goal.js');
const { activityTimes } = require('../framework/history.js');
const { cleanEnvironment, startMediaStack } = require('../framework/media-stack.js');
const { round, summary } = require('../framework/statistics.js');

const title = 'an image call as an activity against a bare undici POST';
const GOAL_MS = 25;

async function run(context) {
  const { quick } = context;
  const { serverVersion, turns } = await measure(context, quick ? [2, 5] : [20, 200]);
  return { server: serverVersion, ...figures(turns) };
}

async function measure(context, [warmUp, rounds]) {
  const { scope, say } = context;
  const stack = await startMediaStack(context, {
    sandbox: { timing: { queuedMs: 0, runningMs: 0 } },
  });
  const taskQueue = `${stack.taskQueue}-bare`;
  await startBenchChild(scope, 'bare-worker', {
    ...cleanEnvironment(),
    TEMPORAL_ADDRESS: stack.server.address,
    BENCH_TASK_QUEUE: taskQueue,
    BENCH_URL: stack.sandbox.url,
  });
  const pool = new Pool(stack.sandbox.url, { connections: 1 });
  scope.defer(() => pool.close());
  const calls = {
    bare: async () => ({ bareMs: await bareImage(pool) }),
    byHand: (turn) => byHand(stack, taskQueue, `bench-bare-${turn}`),
    ours: (turn) => ours(stack, `bench-image-${turn}`),
  };
  const turns = [];
  for (let turn = 0; turn < warmUp + rounds; turn += 1) {
    const order = turn % 2 === 0 ? ['bare', 'byHand', 'ours'] : ['ours', 'byHand', 'bare'];
    const results = {};
    for (const name of order) results[name] = await calls[name](turn);
    if (turn >= warmUp) turns.push(results);
    if (turn % 50 === 49) say(`round ${turn + 1} of ${warmUp + rounds}`);
  }
  const { accepted } = (await stack.sandbox.admin.counters()).images;
  const expected = 3 * (warmUp + rounds);
  if (accepted !== expected)
    throw new Error(`The sandbox accepted ${accepted} images instead of ${expected}.`);
  return { serverVersion: stack.serverVersion, turns };
}

async function byHand({ client }, taskQueue, workflowId) {
  const startedAt = performance.now();
  await client.workflow.execute('bareImageWorkflow', { taskQueue, workflowId });
  return timesOf(client, workflowId, 'bareImage', performance.now() - startedAt);
}

/** One image by the workflow `generateImage`. */
async function ours({ media, client }, id) {
  const { response_format: responseFormat, ...request } = IMAGE_BODY;
  const startedAt = performance.now();
  const started = await media.images.start(
    { request: { ...request, responseFormat } },
    { id, as: 'workflow' },
  );
  const outcome = await started.result();
  const workflowMs = performance.now() - startedAt;
  if (outcome.outcome !== 'completed')
    throw new Error(`The image call ended with outcome ${outcome.outcome}.`);
  return timesOf(client, id, 'media.generateImage', workflowMs);
}

async function timesOf(client, workflowId, activity, workflowMs) {
  const history = await client.workflow.getHandle(workflowId).fetchHistory();
  const { scheduled, started, completed } = activityTimes(history, activity);
  return {
    workflowMs,
    activityMs: completed - scheduled,
    waitMs: started - scheduled,
    runMs: completed - started,
  };
}

function figures(turns) {
  const of = (read) => summary(turns.map(read), 2);
  const values = {
    bareMs: of(({ bare }) => bare.bareMs),
    overheadMs: of(({ ours, bare }) => ours.activityMs - bare.bareMs),
    byHandOverheadMs: of(({ byHand, bare }) => byHand.activityMs - bare.bareMs),
    addedToByHandMs: of(({ ours, byHand }) => ours.activityMs - byHand.activityMs),
    waitForWorkerMs: of(({ ours }) => ours.waitMs),
    inWorkerMs: of(({ ours, bare }) => ours.runMs - bare.bareMs),
    byHandWaitForWorkerMs: of(({ byHand }) => byHand.waitMs),
    byHandInWorkerMs: of(({ byHand, bare }) => byHand.runMs - bare.bareMs),
    workflowMs: of(({ ours }) => ours.workflowMs),
    byHandWorkflowMs: of(({ byHand }) => byHand.workflowMs),
  };
  const row = (text, key) => [text, round(values[key].p50), round(values[key].p95)];
  return {
    values,
    table: {
      columns: ['ms', 'p50', 'p95'],
      rows: [
        row('bare undici POST', 'bareMs'),
        row('**overhead of media.generateImage**, round by round', 'overheadMs'),
        row('… until the worker has it', 'waitForWorkerMs'),
        row('… in the worker and back', 'inWorkerMs'),
        row('overhead of a hand-written activity around the same POST', 'byHandOverheadMs'),
        row('… until the worker has it', 'byHandWaitForWorkerMs'),
        row('… in the worker and back', 'byHandInWorkerMs'),
        row('media.generateImage compared with the hand-written activity', 'addedToByHandMs'),
      ],
    },
    goals: [goal('overhead of media.generateImage, p50', round(values.overheadMs.p50), '<=', GOAL_MS, 'ms')],
    notes: [
      `${turns.length} rounds with alternating order. The sandbox answers from its cache. The overhead is the time from scheduled to completed in the history, less the bare POST of the same round.`,
      'Our activity opens its own connection, writes an intent and an answer to the journal, and stores the checked image, all fsynced.',
      `The server causes the time until the worker has it: the hand-written activity waits ${round(values.byHandWaitForWorkerMs.p50)} ms too.`,
    ],
  };
}

module.exports = { title, run };
