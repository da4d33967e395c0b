'use strict';
// A Temporal server with PostgreSQL persistence for proofs and benchmarks: a separate server and database on the
// loopback interface, each of which can be killed and restarted. Both end with this process, and `stop` removes them.
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
/** Startup takes 5 s on two cores. A busy machine gets more time. */
const READY_MS = 120_000;
const CALL_MS = 5_000;
const RETRY_MS = 100;
const RETENTION_SECONDS = 72 * 3_600;
/** gRPC status. */
const NOT_FOUND = 5;
const ALREADY_EXISTS = 6;

/**
 * Starts both and returns once the server accepts work.
 * @param {{say?: (line: string) => void, dynamicConfig?: Record<string, unknown>}} [options] values in addition to
 * those in temporal-server-config.js
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

/** Starts a PostgreSQL server that does not outlive this process. */
async function startDatabase() {
  // Each of the server's stores has its own connections, and its services have some more.
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

/** Writes a server's files and returns its process, which uses the same ports at every start. */
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
        // Ctrl-C in a terminal then ends the server's users first.
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

/**
 * Returns a free low port. The membership table stores ports as SMALLINT, up to 32,767, and ports assigned by the
 * operating system are too high.
 */
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

/** Waits until every service answers: the frontend, matching, every history shard and visibility. Leaves no trace. */
async function untilItTakesWork(server) {
  await untilAnswered('accept work', server, async (workflowService) => {
    const queue = { name: 'nobody', kind: 1 };
    await workflowService.describeTaskQueue({ namespace: NAMESPACE, taskQueue: queue, taskQueueType: 1 });
    await workflowService.countWorkflowExecutions({ namespace: NAMESPACE });
    // Enough ids that every shard has one.
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

/** Retries until the server has answered. @throws Error if it has exited, or has not answered after two minutes */
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
