'use strict';
// What an image costs more as an activity of a workflow than as a bare POST: same sandbox, same body, turn by turn.
const { performance } = require('node:perf_hooks');
const { Pool } = require('undici');
const { activityTimes } = require('../framework/history.js');
const { goal } = require('../framework/goal.js');
const { API_KEY, startMediaStack } = require('../framework/media-stack.js');
const { round, summary } = require('../framework/statistics.js');

const title = 'an image call as an activity against a bare undici POST';
const GOAL_MS = 25;

/** What both send. Base64, so that neither has to fetch a link. */
const BODY = {
  model: 'image-2',
  prompt: 'a teapot on a table',
  size: '512x512',
  n: 1,
  response_format: 'b64_json',
};

async function run(context) {
  const { scope, say, quick } = context;
  const stack = await startMediaStack(context, { sandbox: { timing: { queuedMs: 0, runningMs: 0 } } });
  const pool = new Pool(stack.sandbox.url, { connections: 1 });
  scope.defer(() => pool.close());
  const [warmUp, pairs] = quick ? [2, 5] : [20, 200];
  const turns = [];
  for (let turn = 0; turn < warmUp + pairs; turn += 1) {
    const first = turn % 2 === 0;
    const before = first ? await bare(pool) : undefined;
    const ours = await image(stack, `bench-image-${turn}`);
    const bareMs = before ?? (await bare(pool));
    if (turn >= warmUp) turns.push({ ...ours, bareMs });
    if (turn % 50 === 49) say(`${turn + 1} of ${warmUp + pairs}`);
  }
  const { accepted } = (await stack.sandbox.admin.counters()).images;
  const expected = 2 * (warmUp + pairs);
  if (accepted !== expected)
    throw new Error(`The sandbox accepted ${accepted} images instead of ${expected}.`);
  return { server: stack.serverVersion, ...figures(turns) };
}

async function bare(pool) {
  const begun = performance.now();
  const { statusCode, body } = await pool.request({
    method: 'POST',
    path: '/v1/images/generations',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(BODY),
  });
  const { data } = await body.json();
  if (statusCode !== 200 || data.length !== 1) throw new Error(`The bare call came to ${statusCode}.`);
  return performance.now() - begun;
}

/** One image by `generateImage`: a workflow of one activity. */
async function image({ media, client }, id) {
  const { response_format: responseFormat, ...request } = BODY;
  const begun = performance.now();
  const started = await media.startImage({ request: { ...request, responseFormat } }, { id });
  const outcome = await started.result();
  const workflowMs = performance.now() - begun;
  if (outcome.outcome !== 'completed') throw new Error(`The image came to ${outcome.outcome}.`);
  const history = await client.workflow.getHandle(id).fetchHistory();
  const { scheduled, started: taken, completed } = activityTimes(history, 'media.generateImage');
  return {
    workflowMs,
    activityMs: completed - scheduled,
    waitMs: taken - scheduled,
    runMs: completed - taken,
  };
}

function figures(turns) {
  const of = (read) => summary(turns.map(read), 2);
  const values = {
    bareMs: of(({ bareMs }) => bareMs),
    activityMs: of(({ activityMs }) => activityMs),
    overheadMs: of(({ activityMs, bareMs }) => activityMs - bareMs),
    waitForWorkerMs: of(({ waitMs }) => waitMs),
    executionMs: of(({ runMs }) => runMs),
    executionOverheadMs: of(({ runMs, bareMs }) => runMs - bareMs),
    workflowMs: of(({ workflowMs }) => workflowMs),
    workflowOverheadMs: of(({ workflowMs, bareMs }) => workflowMs - bareMs),
  };
  const row = (name, { p50, p95 }) => [name, round(p50), round(p95)];
  return {
    values,
    table: {
      columns: ['ms', 'p50', 'p95'],
      rows: [
        row('bare undici POST', values.bareMs),
        row('the activity, from scheduled to completed', values.activityMs),
        row('**overhead of the activity**, pair by pair', values.overheadMs),
        row('of it: until a worker has it', values.waitForWorkerMs),
        row('of it: in the worker and back (journal, checks, store)', values.executionOverheadMs),
        row('a workflow of one image, from start to result at the client', values.workflowMs),
      ],
    },
    goals: [goal('overhead of the activity, p50', round(values.overheadMs.p50), '<=', GOAL_MS, 'ms')],
    notes: [
      `${turns.length} pairs, taking turns at going first; the sandbox answers at once, from its cache.`,
      'The activity also writes an intent and an outcome to the journal and the image to the store, all fsynced.',
    ],
  };
}

module.exports = { title, run };
