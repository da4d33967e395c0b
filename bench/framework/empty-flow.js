'use strict';
// A flow of workflows that do nothing: what any design with a workflow for each video pays on this machine.
const { setTimeout } = require('node:timers/promises');
const { cleanEnvironment, connectClient, startServer } = require('./media-stack.js');
const { startBenchChild } = require('./child.js');
const { cpuMs } = require('./process-usage.js');
const { refill } = require('./refill.js');
const { Scope } = require('./scope.js');

const TASK_QUEUE = 'bench-empty';
const WARM_UP_MS = 15_000;

/**
 * Starts empty workflows at a steady rate until `close`, on a server and a worker of its own. `look` is called at both
 * ends of a measurement, and `between` returns what happened between the two.
 * @param rate starts per second
 */
async function startEmptyFlow({ scope, say }, { rate, type = 'twoEmptyActivities' }) {
  const inner = new Scope();
  scope.defer(() => inner.close());
  const folder = await inner.folder();
  const server = await startServer({ scope: inner, say }, folder);
  const { client, serverVersion } = await connectClient(inner, server);
  const worker = await startBenchChild(inner, 'bare-worker', {
    ...cleanEnvironment(),
    TEMPORAL_ADDRESS: server.address,
    BENCH_TASK_QUEUE: TASK_QUEUE,
    // Nobody is asked.
    BENCH_URL: 'http://127.0.0.1:1',
  });
  const started = [];
  let isOver = false;
  const start = async () => {
    const workflowId = `bench-empty-${started.length}`;
    started.push(await client.workflow.start(type, { taskQueue: TASK_QUEUE, workflowId }));
  };
  const flowing = (async () => {
    while (!isOver) await refill(Date.now() + 1_000, rate, start);
  })();
  return {
    serverVersion,
    look: () => ({
      at: Date.now(),
      count: started.length,
      server: cpuMs(server.pid),
      worker: cpuMs(worker.pid),
    }),
    between: (first, last) => {
      const of = (name) => last[name] - first[name];
      return {
        server: serverVersion,
        design: 'empty',
        perSecond: of('count') / (of('at') / 1000),
        serverCores: of('server') / of('at'),
        workerCores: of('worker') / of('at'),
        msPerVideo: (of('server') + of('worker')) / of('count'),
      };
    },
    /** Ends the flow. @returns the number of events of its last workflow */
    close: async () => {
      isOver = true;
      await flowing;
      const last = started.at(-1);
      await last?.result();
      const { events } = (await last?.fetchHistory()) ?? { events: [] };
      await inner.close();
      return events.length;
    },
  };
}

/** CPU of server and worker for each empty workflow, and its events. @param rate starts per second */
async function measureEmpty(context, { rate, windowMs, type }) {
  const flow = await startEmptyFlow(context, { rate, type });
  await setTimeout(WARM_UP_MS);
  const first = flow.look();
  await setTimeout(windowMs);
  const measured = flow.between(first, flow.look());
  return { ...measured, events: await flow.close() };
}

module.exports = { measureEmpty, startEmptyFlow };
