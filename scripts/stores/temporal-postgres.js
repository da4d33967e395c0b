'use strict';
// A Temporal server with PostgreSQL persistence for proofs and benchmarks: a server and a database of its own on the
// loopback interface, each of which can be killed and started again. Ended with this process, and removed by `stop`.
const { execFile, spawn } = require('node:child_process');
const { randomInt } = require('node:crypto');
const { once } = require('node:events');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { setTimeout: delay } = require('node:timers/promises');
const { promisify } = require('node:util');
const { Connection } = require('@temporalio/client');
const { isPortFree } = require('../../lib/stores/files/this-machine.js');
const { guard } = require('../../packages/testing/lib/temporal-server/server-process.js');
const { boundedLog, endOfLog } = require('./bounded-log.js');
const { startPostgres } = require('./postgres.js');
const { dynamicConfigText, HISTORY_SHARDS, serverConfig, SERVICES } = require('./temporal-server-config.js');
const { findTemporalServer } = require('./temporal-server-programs.js');

const run = promisify(execFile);
const USER = 'media';
const NAMESPACE = 'default';
const DATABASES = { default: 'temporal', visibility: 'temporal_visibility' };
/** 5 s on two cores; a busy machine gets more. */
const READY_MS = 120_000;
const CALL_MS = 5_000;
const RETRY_MS = 100;
const RETENTION_SECONDS = 72 * 3_600;
/** gRPC status. */
const NOT_FOUND = 5;
const ALREADY_EXISTS = 6;

/**
 * Starts both and returns once the server takes work.
 * @param {{say?: (line: string) => void, dynamicConfig?: Record<string, unknown>}} [options] values beside those of
 *   temporal-server-config.js
 */
async function startTemporalOnPostgres({ say = () => undefined, dynamicConfig } = {}) {
  const programs = await findTemporalServer(say);
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'temporal-media-own-server-'));
  const undo = [async () => fs.rmSync(dir, { recursive: true, force: true })];
  const stop = async () => {
    for (let step = undo.pop(); step !== undefined; step = undo.pop()) await step();
  };
  try {
    const database = await startDatabase();
    undo.push(database.stop);
    await makeSchema(programs.sqlTool, database.port);
    const server = await prepareServer(programs.server, dir, database.port, dynamicConfig);
    undo.push(server.kill);
    await server.start();
    const { address } = server;
    await registerNamespace(server);
    const startServer = async () => {
      await server.start();
      await untilItTakesWork(server);
    };
    await untilItTakesWork(server);
    say(`Temporal server ${programs.version} on PostgreSQL: ${address}, log ${server.logFile}`);
    return {
      address,
      namespace: NAMESPACE,
      version: programs.version,
      databasePort: database.port,
      logFile: server.logFile,
      pids: () => ({ server: server.pid(), database: database.pid() }),
      killServer: server.kill,
      killDatabase: database.kill,
      startDatabase: database.start,
      startServer,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A PostgreSQL that does not outlive this process. */
async function startDatabase() {
  // Each store of the server has connections of its own, and its services have some more.
  const postgres = await startPostgres({ settings: { max_connections: 200 } });
  let guardian = guard(postgres.pid());
  return {
    port: postgres.port,
    pid: postgres.pid,
    kill: async () => {
      guardian.release();
      await postgres.kill();
    },
    start: async () => {
      await postgres.start();
      guardian = guard(postgres.pid());
    },
    stop: async () => {
      guardian.release();
      await postgres.stop();
    },
  };
}

/** The tool contains the schema of its version. */
async function makeSchema(sqlTool, port) {
  const where = ['--plugin', 'postgres12', '--ep', '127.0.0.1', '-p', String(port), '-u', USER];
  for (const [store, database] of Object.entries(DATABASES)) {
    const tool = (...args) => run(sqlTool, [...where, '--db', database, ...args]);
    const schema = store === 'default' ? 'temporal' : 'visibility';
    await tool('create-database', '--defaultdb', 'postgres');
    await tool('setup-schema', '-v', '0.0');
    await tool('update-schema', '--schema-name', `postgresql/v12/${schema}`);
  }
}

/** The files of a server, and the process that reads them; it has the same ports whenever it is started. */
async function prepareServer(program, dir, databasePort, dynamicConfig) {
  const ports = {};
  for (const name of SERVICES) ports[name] = { grpc: await lowPort(), membership: await lowPort() };
  const dynamicConfigFile = path.join(dir, 'dynamic-config.yaml');
  fs.writeFileSync(dynamicConfigFile, dynamicConfigText(dynamicConfig));
  const configFile = path.join(dir, 'config.yaml');
  const databases = DATABASES;
  fs.writeFileSync(
    configFile,
    serverConfig({ ports, databasePort, user: USER, databases, dynamicConfigFile }),
  );
  const logFile = path.join(dir, 'server.log');
  const keep = boundedLog(logFile);
  let child;
  let guardian;
  const isRunning = () => child !== undefined && child.exitCode === null && child.signalCode === null;
  return {
    address: `127.0.0.1:${ports.frontend.grpc}`,
    logFile,
    isRunning,
    pid: () => child.pid,
    start: async () => {
      child = spawn(program, ['--config-file', configFile, '--allow-no-auth', 'start'], {
        cwd: dir,
        env: { PATH: process.env.PATH, HOME: dir },
        stdio: ['ignore', 'pipe', 'pipe'],
        // Ctrl-C in a terminal ends those who use it first.
        detached: true,
      });
      await once(child, 'spawn');
      guardian = guard(child.pid);
      child.stdout.on('data', keep);
      child.stderr.on('data', keep);
    },
    kill: async () => {
      guardian?.release();
      if (!isRunning()) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** The table of members has ports as SMALLINT, up to 32,767: those that an operating system gives out are too high. */
async function lowPort() {
  for (;;) {
    const port = randomInt(10_000, 32_768);
    if (await isPortFree(port)) return port;
  }
}

async function registerNamespace(server) {
  await untilAnswered('register a namespace', server, async (workflowService) => {
    const workflowExecutionRetentionPeriod = { seconds: RETENTION_SECONDS };
    try {
      await workflowService.registerNamespace({ namespace: NAMESPACE, workflowExecutionRetentionPeriod });
    } catch (error) {
      if (error.code !== ALREADY_EXISTS) throw error;
    }
  });
}

/** Each service has a part in it: the frontend, matching, every shard of history, visibility. Leaves no trace. */
async function untilItTakesWork(server) {
  await untilAnswered('take work', server, async (workflowService) => {
    const queue = { name: 'nobody', kind: 1 };
    await workflowService.describeTaskQueue({ namespace: NAMESPACE, taskQueue: queue, taskQueueType: 1 });
    await workflowService.countWorkflowExecutions({ namespace: NAMESPACE });
    // So many ids that every shard has one.
    const ids = Array.from({ length: 8 * HISTORY_SHARDS }, (_, n) => `nobody-${n}`);
    await Promise.all(ids.map((workflowId) => isNowhere(workflowService, workflowId)));
  });
}

async function isNowhere(workflowService, workflowId) {
  try {
    await workflowService.describeWorkflowExecution({ namespace: NAMESPACE, execution: { workflowId } });
  } catch (error) {
    if (error.code !== NOT_FOUND) throw error;
  }
}

/** Tries until the server has answered. @throws Error when it has ended, or has not answered after two minutes */
async function untilAnswered(what, { address, isRunning, logFile }, ask) {
  for (const end = Date.now() + READY_MS; ;) {
    let connection;
    try {
      connection = await Connection.connect({ address, connectTimeout: CALL_MS });
      const { workflowService } = connection;
      await connection.withDeadline(Date.now() + CALL_MS, () => ask(workflowService));
      return;
    } catch (error) {
      const why = isRunning() ? error.message : 'it ended';
      if (!isRunning() || Date.now() > end)
        throw new Error(`The Temporal server did not ${what}: ${why}. Its log:\n${endOfLog(logFile)}`);
    } finally {
      await connection?.close();
    }
    await delay(RETRY_MS);
  }
}

module.exports = { startTemporalOnPostgres };
