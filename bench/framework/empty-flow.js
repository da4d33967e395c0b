'use strict';
// A flow of workflows that do nothing: what any design with a workflow for each video pays on this machine.
const { cleanEnvironment, connectClient, startServer } = require('./media-stack.js');
const { startBenchChild } = require('./child.js');
const { cpuMs } = require('./process-usage.js');
const { refill } = require('./refill.js');
const { Scope } = require('./scope.js');

const TASK_QUEUE = 'bench-empty';
const WARM_UP_MS = 10_000;

/** CPU of server and worker for each workflow of two empty activities, at a steady rate. @param rate starts per second */
async function measureEmpty({ scope, say }, { rate, windowMs }) {
  const inner = new Scope();
  scope.defer(() => inner.close());
  try {
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
    let n = 0;
    const flow = async (forMs) => {
      const before = n;
      const open = [];
      await refill(Date.now() + forMs, rate, async () => {
        const handle = await client.workflow.start('twoEmptyActivities', {
          taskQueue: TASK_QUEUE,
          workflowId: `bench-empty-${(n += 1)}`,
        });
        open.push(handle);
      });
      // The last ones are over when this one is; nobody waits for a result of each, as nobody does for videos.
      await open.at(-1)?.result();
      return n - before;
    };
    await flow(Math.min(WARM_UP_MS, windowMs));
    const used = () => ({ server: cpuMs(server.pid), worker: cpuMs(worker.pid) });
    const [before, startedAt] = [used(), Date.now()];
    const count = await flow(windowMs);
    const after = used();
    const seconds = (Date.now() - startedAt) / 1000;
    const cpu = { server: after.server - before.server, worker: after.worker - before.worker };
    return {
      server: serverVersion,
      design: 'empty',
      perSecond: count / seconds,
      serverCores: cpu.server / seconds / 1000,
      workerCores: cpu.worker / seconds / 1000,
      msPerVideo: (cpu.server + cpu.worker) / count,
    };
  } finally {
    await inner.close();
  }
}

module.exports = { measureEmpty };
