'use strict';
// Cost of a poll and a campaign row for a Temporal server with PostgreSQL and for the embedded one on SQLite.
const path = require('node:path');
const { setTimeout } = require('node:timers/promises');
const { inOwnStack, startFlow } = require('../framework/campaign-flow.js');
const { flowRows, quickRows } = require('../framework/campaign-rows.js');
const { startServer } = require('../framework/media-stack.js');
const { cpuMs, cpuOfFamilyMs } = require('../framework/process-usage.js');
const { round } = require('../framework/statistics.js');

const title = 'CPU per poll and per campaign row, with PostgreSQL persistence and with the embedded server';
const SIZE = { rows: 1_000, inFlight: 1_000 };
const QUICK = { rows: 20, inFlight: 20, windowMs: 10_000 };
const SETTLE_MS = 8_000;

const SERVERS = [
  { name: 'embedded, SQLite', start: startEmbedded },
  { name: 'PostgreSQL', start: startOnPostgres },
];

async function run(context) {
  const { quick, minutes, say } = context;
  const size = quick ? QUICK : { ...SIZE, windowMs: Math.min(minutes, 1) * 60_000 };
  const measured = [];
  for (const { name, start } of SERVERS) {
    measured.push({
      name,
      ...(await inOwnStack(context, (stack) => measure(stack, size), { startServer: start })),
    });
    say(`${name}: done`);
  }
  const [embedded, postgres] = measured;
  return {
    server: measured.map(({ version }) => version).join(' and '),
    values: { size, measured },
    table: table(embedded, postgres),
    notes: notes(size),
  };
}

async function startEmbedded(context, folder) {
  const server = await startServer(context, folder);
  return { ...server, cpu: () => ({ server: cpuMs(server.pid), database: 0 }) };
}

async function startOnPostgres({ scope, say }) {
  const { startTemporalOnPostgres } = require(
    path.resolve(__dirname, '../../scripts/stores/temporal-postgres.js'),
  );
  const server = await startTemporalOnPostgres({ say });
  scope.defer(server.stop);
  const cpu = () => {
    const pids = server.pids();
    return { server: cpuMs(pids.server), database: cpuOfFamilyMs(pids.database) };
  };
  return { address: server.address, namespace: server.namespace, startedByUs: true, cpu };
}

/** Runs a campaign to its end, then one that only polls. */
async function measure(stack, { rows, inFlight, windowMs }) {
  const { sandbox, serverVersion } = stack;
  const begin = await look(stack);
  const bought = await startFlow(stack, { id: 'bench-rows', rows: quickRows(rows), inFlight: rows });
  const { counts } = await bought.result();
  if (counts.completed !== rows) throw new Error(`${counts.completed} of ${rows} rows are completed.`);
  const perRow = per(rows, begin, await look(stack));

  const forever = { inFlight, rate: 1, count: inFlight, leadSeconds: 86_400, startsPerSecond: 1 };
  await startFlow(stack, { id: 'bench-polls', rows: flowRows(forever), inFlight });
  while ((await sandbox.admin.counters({ prompts: false })).operations.create.accepted < rows + inFlight)
    await setTimeout(500);
  await setTimeout(SETTLE_MS);
  const first = await look(stack);
  await setTimeout(windowMs);
  const last = await look(stack);
  const polls = last.polls - first.polls;
  const pollsPerSecond = polls / ((last.at - first.at) / 1000);
  return { version: serverVersion, perRow, perPoll: per(polls, first, last), pollsPerSecond };
}

async function look({ sandbox, server, worker }) {
  const { operations } = await sandbox.admin.counters({ prompts: false });
  return {
    at: Date.now(),
    polls: operations.poll.received,
    cpu: { ...server.cpu(), worker: cpuMs(worker.pid) },
  };
}

/** Milliseconds of CPU. */
function per(count, first, last) {
  const of = (name) => (last.cpu[name] - first.cpu[name]) / count;
  return { server: of('server'), database: of('database'), worker: of('worker') };
}

const withoutWorker = ({ server, database }) => server + database;
const whole = (one) => withoutWorker(one) + one.worker;

function table(embedded, postgres) {
  const cells = (one) => [
    round(one.server, 2),
    round(one.database, 2),
    round(one.worker, 2),
    round(whole(one), 2),
  ];
  const ratios = (name) => {
    const [few, many] = [embedded[name], postgres[name]];
    const times = (read) => `${round(read(many) / read(few), 2)} x`;
    return [`${times(withoutWorker)} with its database`, '', times(({ worker }) => worker), times(whole)];
  };
  const rowsOf = (what, name) => [
    [`${what}, embedded`, ...cells(embedded[name])],
    [`${what}, PostgreSQL`, ...cells(postgres[name])],
    [`**${what}, ratio**`, ...ratios(name)],
  ];
  return {
    columns: ['CPU, ms', 'server', 'database', 'worker', 'all'],
    rows: [...rowsOf('per poll', 'perPoll'), ...rowsOf('per row', 'perRow')],
  };
}

function notes({ rows, inFlight }) {
  const [bought, polled] = [rows, inFlight].map((count) => count.toLocaleString('en'));
  return [
    `Rows: a campaign of ${bought} rows whose videos are ready at their first poll, all in flight at the same time, from its start to its result. Polls: a campaign with ${polled} videos in flight, while none starts or ends.`,
    'One server process runs all services with four history shards, and PostgreSQL runs on the same machine with its defaults. The embedded server has SQLite in its own process.',
  ];
}

module.exports = { title, run };
