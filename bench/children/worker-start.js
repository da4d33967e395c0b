'use strict';
// A worker that tells when it polls: with the bundle of the package, or bundling at start. The message says which.
const { NativeConnection, DefaultLogger, Runtime } = require('@temporalio/worker');
const { performance } = require('node:perf_hooks');
const { readConfig } = require('../../lib/settings/config.js');
const { packagedWorkflows } = require('../../lib/installation.js');
const { createMediaWorker } = require('../../lib/worker.js');
const { answerParent } = require('../framework/answer-parent.js');

/** From the call that makes the worker to the moment at which the server has seen its first polls. */
async function start({ bundle, taskQueue }) {
  const connection = await NativeConnection.connect({ address: process.env.TEMPORAL_ADDRESS });
  const startedAt = performance.now();
  const media = await createMediaWorker({
    config: readConfig({ ...process.env, MEDIA_TASK_QUEUE: taskQueue }),
    connection,
    namespace: process.env.TEMPORAL_NAMESPACE,
    ...(bundle === 'shipped' ? {} : { workflows: { workflowsPath: packagedWorkflows() } }),
  });
  const madeMs = performance.now() - startedAt;
  const ended = media.run();
  await untilPolled(connection, taskQueue);
  const pollingMs = performance.now() - startedAt;
  media.shutdown();
  await ended;
  await connection.close();
  return { madeMs, pollingMs };
}

/** The binding of the journal polls a queue of its own: these are the polls of the worker proper. */
async function untilPolled(connection, name) {
  const request = {
    namespace: process.env.TEMPORAL_NAMESPACE,
    taskQueue: { name },
    taskQueueType: 1,
  };
  for (;;) {
    const { pollers } = await connection.workflowService.describeTaskQueue(request);
    if ((pollers ?? []).length > 0) return;
  }
}

Runtime.install({ logger: new DefaultLogger('ERROR') });
answerParent(start);
