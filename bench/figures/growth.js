'use strict';
// Storage cost of waiting: hourly growth of the server's database and histories, extrapolated from minutes.
const { randomBytes } = require('node:crypto');
const path = require('node:path');
const { setTimeout } = require('node:timers/promises');
const { TemporalMediaClient } = require('../../lib/client.js');
const { startBenchChild } = require('../framework/child.js');
const {
  API_KEY,
  cleanEnvironment,
  connectClient,
  startSandbox,
  startServer,
} = require('../framework/media-stack.js');
const { databaseBytes } = require('../framework/database-bytes.js');
const { cpuMs } = require('../framework/process-usage.js');
const { round } = require('../framework/statistics.js');
const { Scope } = require('../framework/scope.js');

const title = 'hourly growth of the database and of histories with 100 and 1,000 videos in flight';
const INTERVAL_SECONDS = 4;
const POLLING = { minSeconds: 3, maxSeconds: 5 };
const MIB = 2 ** 20;
const SETTLE_MS = 8_000;
/** Maximum time to get all videos in flight. */
const RAMP_MS = 120_000;
/** Number of histories in the sample. */
const SAMPLE = 40;

const CASES = [
  { name: '100 videos, a workflow each', videos: 100 },
  { name: '1,000 videos in 2 workflows, a loop of 500 each', videos: 1_000, loop: 500 },
  { name: '1,000 videos, a workflow each', videos: 1_000 },
];
const QUICK = [
  { name: '4 videos, a workflow each', videos: 4 },
  { name: '20 videos in 2 workflows, a loop of 10 each', videos: 20, loop: 10 },
];

async function run({ say, quick, minutes, scope }) {
  const measured = [];
  let server = null;
  for (const one of quick ? QUICK : CASES) {
    // Each with a database of its own, and ended before the next begins.
    const inner = new Scope();
    scope.defer(() => inner.close());
    const windowMs = quick ? 8_000 : minutes * 60_000;
    const { serverVersion, ...figures } = await grow({ scope: inner, say }, one, windowMs);
    server = serverVersion;
    measured.push({ ...one, ...figures });
    say(`${one.name}: done`);
    await inner.close();
  }
  return { server, ...result(measured, quick ? 8 / 60 : minutes) };
}

async function grow(context, { videos, loop }, windowMs) {
  const { scope } = context;
  const folder = await scope.folder();
  const server = await startServer(context, folder);
  const { client, serverVersion } = await connectClient(scope, server);
  const sandbox = await startSandbox(scope, { timing: { queuedMs: 0, runningMs: 86_400_000 } });
  const taskQueue = `bench-${randomBytes(4).toString('hex')}`;
  const worker = await startBenchChild(
    scope,
    'growth-worker',
    environment({ server, sandbox, folder, taskQueue }),
  );
  const stack = { client, sandbox, taskQueue, account: worker.ready.account };
  const ids = loop === undefined ? await startSingles(stack, videos) : await startLoops(stack, videos, loop);
  await setTimeout(SETTLE_MS);

  const look = async () => ({
    at: Date.now(),
    polls: (await sandbox.admin.counters()).operations.poll.received,
    databaseBytes: await databaseBytes(path.join(folder, 'temporal.db')),
    cpu: { server: cpuMs(server.pid), worker: cpuMs(worker.pid) },
    histories: await histories(client, ids),
  });
  const first = await look();
  await setTimeout(windowMs);
  const last = await look();
  const inFlight = (await sandbox.admin.counters()).creates.accepted;
  return { serverVersion, inFlight, ...rates(first, last) };
}

function environment({ server, sandbox, folder, taskQueue }) {
  return {
    ...cleanEnvironment(),
    TEMPORAL_ADDRESS: server.address,
    TEMPORAL_NAMESPACE: server.namespace,
    MEDIA_BASE_URL: sandbox.url,
    MEDIA_API_KEY: API_KEY,
    MEDIA_MODELS: sandbox.modelsUrl,
    MEDIA_DATA_DIR: folder,
    MEDIA_TASK_QUEUE: taskQueue,
  };
}

/**
 * Ten at a time: what is measured begins when all are there. Polls of those that are there slow the others down, and on
 * a full machine for good: after a time it goes on with what there is.
 */
async function startSingles({ client, sandbox, taskQueue }, videos) {
  const media = new TemporalMediaClient(client, { taskQueue });
  const until = Date.now() + RAMP_MS;
  const ids = [];
  const starter = async () => {
    while (ids.length < videos && Date.now() < until) {
      const id = `bench-growth-${ids.length}`;
      ids.push(id);
      const request = { model: 'cine-1', prompt: 'a kite', durationSeconds: 2, resolution: '480p' };
      await media.startVideo({ request, waitFor: '24h' }, { id });
    }
  };
  await Promise.all(Array.from({ length: 10 }, starter));
  const accepted = async () => (await sandbox.admin.counters()).creates.accepted;
  while ((await accepted()) < ids.length && Date.now() < until + RAMP_MS / 2) await setTimeout(500);
  return ids;
}

/** Bare requests create the tasks; the workflows only watch them. */
async function startLoops({ client, sandbox, taskQueue, account }, videos, loop) {
  const ids = [];
  for (let from = 0; from < videos; from += loop) {
    const taskIds = [];
    for (let at = 0; at < loop; at += 1) taskIds.push(await bareCreate(sandbox.url));
    const workflowId = `bench-growth-loop-${from}`;
    const args = [{ account, taskIds, polling: POLLING }];
    await client.workflow.start('watchMany', { taskQueue, workflowId, args });
    ids.push(workflowId);
  }
  return ids;
}

async function bareCreate(url) {
  const reply = await globalThis.fetch(`${url}/v1/videos`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'cine-1', prompt: 'a kite', seconds: 2, resolution: '480p' }),
  });
  if (!reply.ok) throw new Error(`The sandbox answered ${reply.status} to a create.`);
  return (await reply.json()).id;
}

/** Extrapolates the events and bytes of all histories from a sample. */
async function histories(client, ids) {
  const step = Math.max(1, Math.floor(ids.length / SAMPLE));
  const sample = ids.filter((_id, at) => at % step === 0);
  const found = await Promise.all(sample.map((id) => client.workflow.getHandle(id).describe()));
  const sum = (read) => (found.reduce((all, one) => all + read(one), 0) * ids.length) / sample.length;
  return { events: sum((one) => one.historyLength), bytes: sum((one) => one.historySize ?? 0) };
}

function rates(first, last) {
  const seconds = (last.at - first.at) / 1000;
  const perSecond = (read) => (read(last) - read(first)) / seconds;
  const perHour = (read) => perSecond(read) * 3600;
  return {
    pollsPerSecond: perSecond(({ polls }) => polls),
    databaseBytesPerHour: perHour((one) => one.databaseBytes),
    historyEventsPerHour: perHour((one) => one.histories.events),
    historyBytesPerHour: perHour((one) => one.histories.bytes),
    serverCores: perSecond(({ cpu }) => cpu.server) / 1000,
    workerCores: perSecond(({ cpu }) => cpu.worker) / 1000,
  };
}

function result(measured, minutes) {
  const row = (one) => [
    one.inFlight < one.videos ? `${one.name} (${one.inFlight} were there)` : one.name,
    `${round(one.pollsPerSecond)} of ${round(one.inFlight / INTERVAL_SECONDS)}`,
    round(one.databaseBytesPerHour / MIB, 0),
    Math.round(one.historyEventsPerHour).toLocaleString('en'),
    round(one.historyBytesPerHour / MIB, 0),
    `${round(one.serverCores, 2)} + ${round(one.workerCores, 2)}`,
  ];
  return {
    values: measured,
    table: {
      columns: [
        'in flight',
        'polls/s (of target)',
        'database, MiB per hour',
        'history events per hour',
        'history, MiB per hour',
        'cores, server + worker',
      ],
      rows: measured.map(row),
    },
    notes: [
      `Extrapolated from ${round(minutes, 2)} min each, with polls every 3 to 5 s. Nothing is created, finished or deleted in that time.`,
      "The database is the embedded server's SQLite file after a checkpoint of its log.",
      'Closed histories are deleted after the retention (72 h by default). A running video continues as new after 4,096 events.',
      'Fewer polls than the target mean that the machine is saturated and limits the growth.',
    ],
  };
}

module.exports = { title, run };
