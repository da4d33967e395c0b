'use strict';
// The whole stack as `temporal-media dev` runs it: a real Temporal server on disk, the sandbox and a worker, each in a
// process of its own, all on 127.0.0.1.
const { randomBytes } = require('node:crypto');
const path = require('node:path');
const { Client, Connection } = require('@temporalio/client');
const { startChild } = require('../../packages/cli/lib/shared/child-process.js');
const {
  sandboxEnvironment,
  SANDBOX_KEY,
  temporalEnvironment,
} = require('../../packages/cli/lib/shared/dev-state.js');
const { stackEnvironment } = require('../../packages/cli/lib/shared/stack.js');
const { TemporalMediaClient } = require('../../lib/client.js');
const { startTemporalServer } = require('../../packages/testing/lib/index.js');
const { startSandboxProcess } = require('../../packages/sandbox/lib/index.js');

/** Neither an account nor a server of the user takes part. */
const cleanEnvironment = () => stackEnvironment(process.env);

/** A Temporal server with its database in `folder`. */
async function startServer({ scope, say }, folder) {
  const env = cleanEnvironment();
  const server = await startTemporalServer({ dataDir: folder, env, onProgress: say });
  scope.defer(() => server.stop());
  return server;
}

async function connectClient(scope, server) {
  const connection = await Connection.connect({ address: server.address });
  scope.defer(() => connection.close());
  const { serverVersion = 'unknown' } = await connection.workflowService.getSystemInfo({});
  return { client: new Client({ connection, namespace: server.namespace }), serverVersion };
}

async function startSandbox(scope, options = {}) {
  const sandbox = await startSandboxProcess({ videos: 'shared', ...options });
  scope.defer(() => sandbox.close());
  return sandbox;
}

/** A worker in a process of its own, ready to poll. */
async function startWorker({ scope }, { server, sandbox, folder, taskQueue, env = {} }) {
  const child = await startChild(['worker', '--json', '--log-level', 'ERROR'], {
    logFile: path.join(folder, 'worker.log'),
    env: {
      ...temporalEnvironment(server, cleanEnvironment(), folder),
      ...sandboxEnvironment(sandbox, {}),
      MEDIA_DATA_DIR: folder,
      MEDIA_TASK_QUEUE: taskQueue,
      // As docs/campaigns.md advises for large campaigns.
      MALLOC_ARENA_MAX: '2',
      ...env,
    },
  });
  scope.defer(() => child.stop(5_000));
  return child;
}

/** `options.startServer` brings another server than the embedded one: `{address, namespace}` and what its caller looks at. */
async function startMediaStack(context, options = {}) {
  const folder = await context.scope.folder();
  const server = await (options.startServer ?? startServer)(context, folder);
  const { client, serverVersion } = await connectClient(context.scope, server);
  const sandbox = await startSandbox(context.scope, options.sandbox);
  const taskQueue = `bench-${randomBytes(4).toString('hex')}`;
  const env = options.env?.({ folder }) ?? {};
  const worker = await startWorker(context, { server, sandbox, folder, taskQueue, env });
  const media = new TemporalMediaClient(client, { taskQueue });
  return { folder, server, serverVersion, client, sandbox, worker, media, taskQueue };
}

module.exports = {
  API_KEY: SANDBOX_KEY,
  cleanEnvironment,
  connectClient,
  startMediaStack,
  startSandbox,
  startServer,
  startWorker,
};
