'use strict';
// Cost per row in campaigns of 100 to 100,000 rows whose videos are ready at their first poll.
const { loadavg } = require('node:os');
const { setTimeout } = require('node:timers/promises');
const { measureBareFlow } = require('../framework/bare-flow.js');
const { inOwnStack, startFlow } = require('../framework/campaign-flow.js');
const { quickRows } = require('../framework/campaign-rows.js');
const { BARE_NOTE } = require('../framework/flow-table.js');
const { lookAtHistories, checkWork } = require('../framework/flow-look.js');
const { residentBytes, watchMemory } = require('../framework/process-usage.js');
const { round } = require('../framework/statistics.js');

const title = 'cost per campaign row, from 100 to 100,000 rows, and for the first 100,000 of a million';
/** Rows that are bought; the campaign has as many rows unless `planned` is higher. */
const SIZES = [
  { rows: 100 },
  { rows: 1_000 },
  { rows: 10_000 },
  { rows: 100_000 },
  { rows: 100_000, planned: 1_000_000 },
];
const IN_FLIGHT = 2_000;
const BARE_MS = 30_000;

async function run(context) {
  const { quick, say } = context;
  const wanted = process.env.BENCH_SIZES?.split(',').map(Number);
  const isWanted = ({ rows, planned = rows }) => wanted === undefined || wanted.includes(planned);
  const sizes = quick ? [{ rows: 20 }, { rows: 20, planned: 60 }] : SIZES.filter(isWanted);
  const measured = [];
  for (const size of sizes) {
    measured.push(await withBare(context, await measure(context, size)));
    say(`${nameOf(size)} rows: ${round(measured.at(-1).seconds)} s`);
  }
  return { server: measured[0].server, values: measured, table: table(measured), notes: NOTES };
}

/** Cost of the same rate of creates, polls and downloads without Temporal and this package. */
async function withBare(context, one) {
  const { rowsPerSecond, polls } = one;
  const pollsPerSecond = rowsPerSecond * polls;
  const forMs = context.quick ? 2_000 : BARE_MS;
  return {
    ...one,
    bare: await measureBareFlow(context, { videosPerSecond: rowsPerSecond, pollsPerSecond, forMs }),
  };
}

function nameOf({ rows, planned = rows }) {
  const [bought, all] = [rows, planned].map((count) => count.toLocaleString('en'));
  return bought === all ? all : `${bought} of ${all}`;
}

async function measure(context, { rows, planned = rows }) {
  return inOwnStack(context, async (stack) => {
    const id = 'bench-rows';
    const memory = watchMemory(stack.worker.pid, 200);
    const first = await checkWork(stack);
    const startedAt = Date.now();
    const started = await startFlow(stack, {
      id,
      rows: quickRows(planned),
      inFlight: Math.min(rows, IN_FLIGHT),
    });
    await downloaded(stack, rows / 10);
    const early = residentBytes(stack.worker.pid);
    await (planned > rows ? downloaded(stack, rows) : completed(started, rows));
    const seconds = (Date.now() - startedAt) / 1000;
    const last = await checkWork(stack);
    const { events, bytes, runs } = await lookAtHistories(stack.client, id, stack.sandbox);
    const of = (read) => (read(last) - read(first)) / rows;
    return {
      server: stack.serverVersion,
      rows,
      planned,
      earlyBytes: early,
      seconds,
      rowsPerSecond: rows / seconds,
      serverMs: of(({ cpu }) => cpu.server),
      workerMs: of(({ cpu }) => cpu.worker),
      polls: of(({ polls }) => polls),
      events: events / rows,
      historyBytes: bytes / rows,
      databaseBytes: of(({ databaseBytes }) => databaseBytes),
      runs,
      peakBytes: memory.stop(),
      load: loadavg()[0],
    };
  });
}

async function completed(started, rows) {
  const { counts } = await started.result();
  if (counts.completed !== rows) throw new Error(`${counts.completed} of ${rows} rows are completed.`);
}

async function downloaded({ sandbox }, rows) {
  for (;;) {
    const { operations } = await sandbox.admin.counters({ prompts: false });
    if (operations.content.accepted >= rows) return;
    await setTimeout(500);
  }
}

function table(measured) {
  return {
    columns: [
      'rows',
      's',
      'rows/s',
      'ms per row, server + worker',
      'ms per row, bare requests',
      'polls per row',
      'events, KiB of history per row',
      'KiB of database per row',
      'runs',
      'worker after 10% of rows / at peak, MiB',
      'load',
    ],
    rows: measured.map((one) => [
      nameOf(one),
      round(one.seconds),
      round(one.rowsPerSecond),
      `${round(one.serverMs, 2)} + ${round(one.workerMs, 2)}`,
      round(one.bare.msPerVideo, 1),
      round(one.polls, 2),
      `${round(one.events)}, ${round(one.historyBytes / 1024)}`,
      round(one.databaseBytes / 1024),
      one.runs,
      `${round(one.earlyBytes / 2 ** 20, 0)}, ${round(one.peakBytes / 2 ** 20, 0)}`,
      round(one.load),
    ]),
  };
}

const NOTES = [
  `Measured from the campaign's start to its result, with at most ${IN_FLIGHT.toLocaleString('en')} in flight. Each size has its own stack.`,
  'In a small campaign the start, the first poll after 4 s and the end dominate; in a large one, the rows do.',
  BARE_NOTE,
  'Runs include those of the campaign and of its batches.',
  'All million rows are planned, which is part of the seconds; the campaign is abandoned after this many downloads.',
];

module.exports = { title, run };
