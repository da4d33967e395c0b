'use strict';
// What a row costs in campaigns of 100 to 100,000 rows whose videos are ready at their first poll.
const { loadavg } = require('node:os');
const { measureBareFlow } = require('../framework/bare-flow.js');
const { inOwnStack, startFlow } = require('../framework/campaign-flow.js');
const { quickRows } = require('../framework/campaign-rows.js');
const { BARE_NOTE } = require('../framework/flow-table.js');
const { lookAtHistories, lookAtWork } = require('../framework/flow-look.js');
const { watchMemory } = require('../framework/process-usage.js');
const { round } = require('../framework/statistics.js');

const title = 'what a row of a campaign costs, from 100 to 100,000 rows';
const SIZES = [100, 1_000, 10_000, 100_000];
const IN_FLIGHT = 2_000;
const BARE_MS = 30_000;

async function run(context) {
  const { quick, say } = context;
  const wanted = process.env.BENCH_SIZES?.split(',').map(Number);
  const sizes = quick ? [20, 60] : SIZES.filter((rows) => wanted === undefined || wanted.includes(rows));
  const measured = [];
  for (const rows of sizes) {
    measured.push(await withBare(context, await measure(context, rows)));
    say(`${rows} rows: ${round(measured.at(-1).seconds)} s`);
  }
  return { server: measured[0].server, values: measured, table: table(measured), notes: NOTES };
}

/** What as many creates, polls and downloads a second cost without Temporal and without us. */
async function withBare(context, one) {
  const { rowsPerSecond, polls } = one;
  const pollsPerSecond = rowsPerSecond * polls;
  const forMs = context.quick ? 2_000 : BARE_MS;
  return {
    ...one,
    bare: await measureBareFlow(context, { videosPerSecond: rowsPerSecond, pollsPerSecond, forMs }),
  };
}

async function measure(context, rows) {
  return inOwnStack(context, async (stack) => {
    const id = 'bench-rows';
    const memory = watchMemory(stack.worker.pid, 200);
    const first = await lookAtWork(stack);
    const begun = Date.now();
    const started = await startFlow(stack, {
      id,
      rows: quickRows(rows),
      inFlight: Math.min(rows, IN_FLIGHT),
    });
    const { counts } = await started.result();
    const seconds = (Date.now() - begun) / 1000;
    const last = await lookAtWork(stack);
    if (counts.completed !== rows) throw new Error(`${counts.completed} of ${rows} rows are completed.`);
    const { events, bytes, runs } = await lookAtHistories(stack.client, id, stack.sandbox);
    const of = (read) => (read(last) - read(first)) / rows;
    return {
      server: stack.serverVersion,
      rows,
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
      'worker, MiB',
      'load',
    ],
    rows: measured.map((one) => [
      one.rows.toLocaleString('en'),
      round(one.seconds),
      round(one.rowsPerSecond),
      `${round(one.serverMs, 2)} + ${round(one.workerMs, 2)}`,
      round(one.bare.msPerVideo, 1),
      round(one.polls, 2),
      `${round(one.events)}, ${round(one.historyBytes / 1024)}`,
      round(one.databaseBytes / 1024),
      one.runs,
      round(one.peakBytes / 2 ** 20, 0),
      round(one.load),
    ]),
  };
}

const NOTES = [
  `From the start of the campaign to its result, at most ${IN_FLIGHT.toLocaleString('en')} in flight; each size on a stack of its own.`,
  'A small campaign pays for its start, its first poll after 4 s and its end; a large one for its rows.',
  BARE_NOTE,
  'Runs are those of the campaign and its batches.',
];

module.exports = { title, run };
