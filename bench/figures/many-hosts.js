'use strict';
// One campaign shared by workers in processes of their own, with folders of their own, as hosts have: journal in
// PostgreSQL, artifacts in a bucket. Beside it one worker on folders.
const fs = require('node:fs');
const path = require('node:path');
const { setTimeout } = require('node:timers/promises');
const { Client } = require('pg');
const { inOwnStack, startFlow } = require('../framework/campaign-flow.js');
const { flowRows } = require('../framework/campaign-rows.js');
const { startWorker } = require('../framework/media-stack.js');
const { cpuMs, cpuOfFamilyMs, residentBytes } = require('../framework/process-usage.js');
const { round } = require('../framework/statistics.js');
const { findPostgres, startPostgres } = require('../../scripts/stores/postgres.js');
const { findS3, startS3 } = require('../../scripts/stores/s3.js');
const { migratePostgres } = require('../../packages/store-postgres/lib/index.js');

const title =
  'one campaign on two to eight workers with separate folders, the journal in PostgreSQL and artifacts in a bucket';

/** `BENCH_HOSTS=1,2` measures only these; 0 is one worker on folders. */
const HOSTS = (process.env.BENCH_HOSTS ?? '0,1,2,4,8').split(',').map(Number);
const IN_FLIGHT = Number(process.env.BENCH_IN_FLIGHT ?? 10_000);
/** Videos that end, and begin, a second while the window lasts. */
const RATE = Number(process.env.BENCH_RATES ?? 20);

async function run(context) {
  const { quick, minutes, say } = context;
  const found = findS3({ say });
  if (found.path === null) throw new Error(found.reason);
  if (findPostgres() === null) throw new Error('PostgreSQL is missing: install the package "postgresql".');
  const size = quick
    ? { inFlight: 100, rate: 5, windowMs: 10_000, rampMs: 60_000 }
    : { inFlight: IN_FLIGHT, rate: RATE, windowMs: Math.min(minutes, 0.5) * 60_000, rampMs: 240_000 };
  const values = [];
  for (const hosts of quick ? [0, 2] : HOSTS) {
    values.push(await measure(context, hosts, size));
    say(`${nameOf(hosts)}: done`);
  }
  return { server: values[0].server, values, table: tableOf(values), notes: NOTES };
}

const NOTES = [
  "All processes share this machine's cores, so the rate is the joint limit of the workers, Temporal, the bucket, the database and the sandbox.",
  'Each worker is a process with its own folder. They share only Temporal, the bucket and the database.',
  'Requests and statements per video are all those in the window, divided by the videos created in it. As many videos end and are downloaded.',
  'A gap is the time between two polls of a task, as seen by the sandbox.',
];

async function measure(context, hosts, { inFlight, rate, windowMs, rampMs }) {
  const stores = hosts === 0 ? undefined : await startStores(context);
  const env = ({ folder }) => ({ MEDIA_INPUT_ROOTS: folder, ...stores?.env });
  const measured = await inOwnStack(
    context,
    async (stack) => {
      const workers = [stack.worker];
      for (let nth = 1; nth < hosts; nth += 1) {
        const folder = path.join(stack.folder, `host-${nth}`);
        fs.mkdirSync(folder);
        workers.push(await startWorker(context, { ...stack, folder, env: env(stack) }));
      }
      const leadSeconds = Math.ceil(inFlight / 250) + 30;
      const count = inFlight + Math.ceil(rate * ((windowMs + rampMs) / 1000 + 120));
      const rows = flowRows({ inFlight, rate, count, leadSeconds, startsPerSecond: 250 });
      const startedAt = Date.now();
      await startFlow(stack, { id: 'bench-hosts', inFlight, rows });
      const reached = await full(stack.sandbox, inFlight, rampMs);
      const fullAfterSeconds = (Date.now() - startedAt) / 1000;
      // The first ones end when the last of them has started.
      await setTimeout(Math.max(0, startedAt + leadSeconds * 1000 - Date.now()));
      await setTimeout(Math.min(10_000, windowMs));
      await stack.sandbox.admin.pollGaps({ begin: true });
      const first = await look(stack, workers, stores);
      await setTimeout(windowMs);
      const last = await look(stack, workers, stores);
      const gaps = await stack.sandbox.admin.pollGaps();
      for (const worker of workers.slice(1)) await worker.stop(5_000);
      return {
        server: stack.serverVersion,
        hosts,
        inFlight,
        reached,
        fullAfterSeconds,
        gaps,
        ...between(first, last),
      };
    },
    { env },
  );
  await stores?.stop();
  return measured;
}

async function startStores({ scope }) {
  const bucket = await startS3({ accessLog: true });
  scope.defer(() => bucket.stop());
  await bucket.createBucket('bench');
  const database = await startPostgres({ settings: { max_connections: 200 } });
  scope.defer(() => database.stop());
  await migratePostgres(database.url);
  const client = new Client({ connectionString: database.url });
  await client.connect();
  scope.defer(() => client.end().catch(() => undefined));
  return {
    bucket,
    database,
    client,
    env: {
      ...bucket.env,
      MEDIA_JOURNAL: database.url,
      MEDIA_ARTIFACTS: 's3://bench/artifacts',
    },
    stop: async () => {
      await client.end();
      await bucket.stop();
      await database.stop();
    },
  };
}

async function full(sandbox, inFlight, rampMs) {
  const until = Date.now() + rampMs;
  for (;;) {
    const { operations } = await sandbox.admin.counters({ prompts: false });
    const there = operations.create.accepted - operations.content.accepted;
    if (there >= 0.98 * inFlight || Date.now() > until) return there;
    await setTimeout(500);
  }
}

async function look({ server, sandbox }, workers, stores) {
  const { operations } = await sandbox.admin.counters({ prompts: false });
  const sum = (read) => workers.reduce((total, { pid }) => total + read(pid), 0);
  return {
    at: Date.now(),
    creates: operations.create.accepted,
    polls: operations.poll.received,
    downloads: operations.content.accepted,
    serverMs: cpuMs(server.pid),
    workersMs: sum(cpuMs),
    workerBytes: Math.max(...workers.map(({ pid }) => residentBytes(pid))),
    bucketMs: stores === undefined ? 0 : cpuMs(stores.bucket.pid()),
    databaseMs: stores === undefined ? 0 : cpuOfFamilyMs(stores.database.pid()),
    requests: stores === undefined ? 0 : linesOf(stores.bucket.accessLog),
    ...(stores === undefined ? { commits: 0, connections: 0 } : await statementsOf(stores.client)),
  };
}

function linesOf(file) {
  return fs.readFileSync(file, 'utf8').split('\n').length - 1;
}

async function statementsOf(client) {
  const { rows } = await client.query(
    `SELECT (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()) AS commits,
            (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()) AS connections`,
  );
  return { commits: Number(rows[0].commits), connections: Number(rows[0].connections) };
}

function between(first, last) {
  const seconds = (last.at - first.at) / 1000;
  const of = (name) => last[name] - first[name];
  const videos = Math.max(1, of('creates'));
  const cores = (name) => of(name) / seconds / 1000;
  return {
    createsPerSecond: of('creates') / seconds,
    downloadsPerSecond: of('downloads') / seconds,
    pollsPerSecond: of('polls') / seconds,
    cores: {
      server: cores('serverMs'),
      workers: cores('workersMs'),
      bucket: cores('bucketMs'),
      database: cores('databaseMs'),
    },
    bucketRequestsPerVideo: of('requests') / videos,
    statementsPerVideo: of('commits') / videos,
    connections: last.connections,
    workerBytes: last.workerBytes,
  };
}

const nameOf = (hosts) => (hosts === 0 ? 'one worker on folders' : `${hosts} on bucket and database`);

function tableOf(values) {
  return {
    columns: [
      'workers',
      'in flight (reached)',
      'full after, s',
      'polls/s (of target)',
      'gap p50 / p95, s',
      'created / downloaded per s',
      'server + workers + bucket + database, cores',
      'bucket requests, statements per video',
      'database connections',
      'largest worker, MiB',
    ],
    rows: values.map((one) => [
      nameOf(one.hosts),
      `${one.inFlight} (${one.reached})`,
      round(one.fullAfterSeconds, 0),
      `${round(one.pollsPerSecond)} of ${round(one.reached / 4)}`,
      `${((one.gaps.p50 ?? 0) / 1000).toFixed(2)} / ${((one.gaps.p95 ?? 0) / 1000).toFixed(2)}`,
      `${round(one.createsPerSecond, 1)} / ${round(one.downloadsPerSecond, 1)}`,
      ['server', 'workers', 'bucket', 'database'].map((name) => round(one.cores[name], 2)).join(' + '),
      one.hosts === 0 ? '–' : `${round(one.bucketRequestsPerVideo, 1)}, ${round(one.statementsPerVideo, 1)}`,
      one.hosts === 0 ? '–' : one.connections,
      round(one.workerBytes / 2 ** 20, 0),
    ]),
  };
}

module.exports = { title, run };
