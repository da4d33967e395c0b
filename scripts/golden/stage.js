'use strict';
/* global URL */
const { mkdtemp, rm } = require('node:fs/promises');
const { tmpdir } = require('node:os');
const path = require('node:path');
const { Client, Connection } = require('@temporalio/client');
const { NativeConnection, bundleWorkflowCode, DefaultLogger, Runtime } = require('@temporalio/worker');
const { readConfig } = require('../../lib/settings/config');
const { SEARCH_ATTRIBUTES } = require('../../lib/domain/names');
const { createMediaWorker, createWorkers } = require('../../lib/worker');
const { FileArtifactStore } = require('../../lib/activities');
const { startTemporalServer } = require('../../packages/testing/lib');
const { startSandboxProcess } = require('../../packages/sandbox/lib');
const { IDENTITY } = require('./histories');
const { ScriptedActivities } = require('./scripted-activities');

/** Task queues of the recording. They are constants because every history contains them. */
const QUEUES = { real: 'golden', scripted: 'golden-scripted', late: 'golden-late', nobody: 'golden-nobody' };

/**
 * Opens real servers (one of them suggests continue-as-new after a few events), the sandbox in its own process, a
 * worker with the real activities and a worker with scripted ones.
 */
async function openEnvironment() {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const dataDir = await mkdtemp(path.join(tmpdir(), 'temporal-media-golden-'));
  const closing = [() => rm(dataDir, { recursive: true, force: true })];
  const close = async () => {
    for (const step of closing.splice(0).reverse()) await step();
  };
  try {
    const workflowBundle = await bundleWorkflowCode({
      workflowsPath: require.resolve('./execute-video'),
      logger: new DefaultLogger('ERROR'),
    });
    const scripted = new ScriptedActivities();
    const sandbox = await startSandboxProcess();
    closing.push(() => sandbox.close());
    const open = (dynamicConfig) => openServer({ dynamicConfig, workflowBundle, scripted, closing });
    const plain = await open({});
    const continuing = await open({ 'limit.historyCount.suggestContinueAsNew': '24' });
    const config = readConfig({
      MEDIA_BASE_URL: sandbox.url,
      MEDIA_API_KEY: 'sandbox-key',
      MEDIA_MODELS: sandbox.modelsUrl,
      MEDIA_ALLOWED_MEDIA_ORIGINS: new URL(sandbox.mediaUrl).origin,
      MEDIA_DATA_DIR: dataDir,
      MEDIA_TASK_QUEUE: QUEUES.real,
    });
    const media = await createMediaWorker({
      config,
      connection: plain.connection,
      workflows: { workflowBundle },
      worker: { identity: IDENTITY, shutdownGraceTime: '1 second' },
    });
    closing.push(runUntilClosed(media));
    // Closed first, so that no worker waits for an activity that hangs on purpose.
    closing.push(async () => scripted.close());
    return {
      plain,
      continuing,
      sandbox,
      scripted,
      artifacts: new FileArtifactStore(config.artifacts),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openServer({ dynamicConfig, workflowBundle, scripted, closing }) {
  // TEMPORAL_ADDRESS must not lead to a shared server, or to one without this dynamic configuration.
  const env = { ...process.env, TEMPORAL_ADDRESS: undefined, TEMPORAL_PROFILE: undefined };
  const searchAttributes = Object.fromEntries(SEARCH_ATTRIBUTES.map((name) => [name, 'Keyword']));
  const server = await startTemporalServer({ env, dynamicConfig, searchAttributes });
  closing.push(() => server.stop());
  const connection = await NativeConnection.connect({ address: server.address });
  closing.push(() => connection.close());
  const clientConnection = await Connection.connect({ address: server.address });
  closing.push(() => clientConnection.close());
  const scriptedWorker = (taskQueue) =>
    createWorkers({
      connection,
      identity: IDENTITY,
      taskQueue,
      workflowBundle,
      activities: scripted.registered(),
      shutdownGraceTime: '1 second',
      shutdownForceTime: '5 seconds',
      maxHeartbeatThrottleInterval: '1 second',
      defaultHeartbeatThrottleInterval: '1 second',
    });
  closing.push(runUntilClosed(await scriptedWorker(QUEUES.scripted)));
  return {
    client: new Client({ connection: clientConnection, identity: IDENTITY }),
    connection,
    startWorker: async (taskQueue) => {
      closing.push(runUntilClosed(await scriptedWorker(taskQueue)));
    },
  };
}

/** Runs a worker. The returned function stops it and waits until it has ended. */
function runUntilClosed(worker) {
  const ended = worker.run();
  ended.catch(() => undefined);
  return async () => {
    worker.shutdown();
    await ended.catch((error) => {
      // Activities that hang on purpose are abandoned with their worker.
      if (error?.name !== 'GracefulShutdownPeriodExpiredError') throw error;
    });
  };
}

module.exports = { QUEUES, openEnvironment };
