'use strict';
// An image call by the workflow `generateImage` against one by an activity without a workflow: the same server, worker and
// sandbox, in alternating blocks.
const { performance } = require('node:perf_hooks');
const { IMAGE_BODY } = require('../framework/bare-image.js');
const { goal } = require('../framework/goal.js');
const { startMediaStack } = require('../framework/media-stack.js');
const { cpuMs } = require('../framework/process-usage.js');
const { round } = require('../framework/statistics.js');

const title = 'an image call by a workflow against one by an activity without a workflow';
const KINDS = ['workflow', 'activity'];
const TOGETHER = [1, 8, 32];
const GOAL = 0.6;

async function run(context) {
  const { quick, say } = context;
  const [blocks, calls] = quick ? [2, 8] : [10, 64];
  const stack = await startMediaStack(context, { sandbox: { timing: { queuedMs: 0, runningMs: 0 } } });
  const sizes = [];
  for (const together of TOGETHER) {
    // The first block of each kind compiles code and opens connections.
    for (const as of KINDS) await block(stack, { as, together, calls, name: `warm-${together}-${as}` });
    const measured = { workflow: [], activity: [] };
    for (let turn = 0; turn < blocks; turn += 1)
      for (const as of turn % 2 === 0 ? KINDS : KINDS.toReversed())
        measured[as].push(await block(stack, { as, together, calls, name: `${together}-${turn}-${as}` }));
    sizes.push({
      together,
      calls: blocks * calls,
      workflow: mean(measured.workflow),
      activity: mean(measured.activity),
    });
    say(`${together} at once: done`);
  }
  const { accepted } = (await stack.sandbox.admin.counters()).images;
  const expected = TOGETHER.length * KINDS.length * (blocks + 1) * calls;
  if (accepted !== expected)
    throw new Error(`The sandbox accepted ${accepted} images instead of ${expected}.`);
  return { server: stack.serverVersion, ...figures(sizes) };
}

/** CPU time of server, worker and client, and time of a call, in milliseconds. */
async function block(stack, { as, together, calls, name }) {
  const before = usage(stack);
  let next = 0;
  let wallMs = 0;
  const caller = async () => {
    while (next < calls) {
      const id = `bench-${name}-${next++}`;
      const startedAt = performance.now();
      const { response_format: responseFormat, ...request } = IMAGE_BODY;
      const outcome = await stack.media.images.execute(
        { request: { ...request, responseFormat } },
        { id, as },
      );
      if (outcome.outcome !== 'completed')
        throw new Error(`The image call ended with outcome ${outcome.outcome}.`);
      wallMs += performance.now() - startedAt;
    }
  };
  await Promise.all(Array.from({ length: together }, caller));
  const after = usage(stack);
  const per = (part) => (after[part] - before[part]) / calls;
  return {
    serverMs: per('server'),
    workerMs: per('worker'),
    clientMs: per('client'),
    wallMs: wallMs / calls,
  };
}

function usage({ server, worker }) {
  const { user, system } = process.cpuUsage();
  return { server: cpuMs(server.pid), worker: cpuMs(worker.pid), client: (user + system) / 1000 };
}

function mean(blocks) {
  const of = (name) => blocks.reduce((sum, one) => sum + one[name], 0) / blocks.length;
  const [serverMs, workerMs, clientMs, wallMs] = ['serverMs', 'workerMs', 'clientMs', 'wallMs'].map(of);
  return { serverMs, workerMs, clientMs, wallMs, cpuMs: serverMs + workerMs + clientMs };
}

function figures(sizes) {
  const ratioOf = ({ workflow, activity }) => round(activity.cpuMs / workflow.cpuMs, 2);
  return {
    values: sizes,
    table: {
      columns: ['calls at once', 'CPU by workflow, ms', 'by activity, ms', 'ratio', 'time, ms'],
      rows: sizes.map((size) => {
        const { workflow, activity } = size;
        const time = `${round(workflow.wallMs)} / ${round(activity.wallMs)}`;
        return [size.together, round(workflow.cpuMs), round(activity.cpuMs), ratioOf(size), time];
      }),
    },
    goals: sizes.map((size) =>
      goal(`CPU of an activity, ${size.together} at once`, ratioOf(size), '<=', GOAL, 'times the workflow'),
    ),
    notes: [
      `${sizes[0].calls} calls of each kind and size in alternating blocks. The sandbox answers from its cache, and its CPU time is not counted.`,
      'Each call writes its log to the journal and stores its image. A workflow has 13 events and 3 actions; an activity has 1 action and no events.',
    ],
  };
}

module.exports = { title, run };
