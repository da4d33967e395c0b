'use strict';
// A worker as one writes it in five minutes: an activity that posts and returns, without a journal, checks or a store; and
// one that does nothing.
const { DefaultLogger, NativeConnection, Runtime, Worker } = require('@temporalio/worker');
const { Pool } = require('undici');
const { bareImage } = require('../framework/bare-image.js');

async function main() {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const { TEMPORAL_ADDRESS: address, BENCH_TASK_QUEUE: taskQueue, BENCH_URL: url } = process.env;
  const pool = new Pool(url, { connections: 1 });
  const connection = await NativeConnection.connect({ address });
  const worker = await Worker.create({
    connection,
    taskQueue,
    workflowsPath: require.resolve('./bare-workflows.js'),
    activities: { bareImage: () => bareImage(pool), nothing: async () => undefined },
  });
  process.once('SIGTERM', () => worker.shutdown());
  process.once('disconnect', () => process.exit(0));
  process.send({ ready: true });
  await worker.run();
  process.exit(0);
}

main().catch((error) => process.send({ error: error.message }));
