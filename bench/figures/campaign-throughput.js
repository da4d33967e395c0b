'use strict';
// How many videos a second a campaign creates, polls and downloads with many in flight, and where that bends.
const { measureFlow } = require('../framework/campaign-flow.js');
const { BARE_NOTE, flowTable } = require('../framework/flow-table.js');
const { goal } = require('../framework/goal.js');
const { round } = require('../framework/statistics.js');

const title = 'sustained create, poll and download of small videos a second, with 10,000 in flight';
const IN_FLIGHT = 10_000;
const RATES = [50, 100, 150, 200, 300];
/** Below this share of what was offered the machine is past the knee. */
const KEPT_UP = 0.95;

async function run(context) {
  const { quick, minutes, say } = context;
  const times = quick
    ? { windowMs: 10_000, rampMs: 60_000 }
    : { windowMs: Math.min(minutes, 1) * 60_000, rampMs: 600_000 };
  const inFlight = quick ? 40 : Number(process.env.BENCH_IN_FLIGHT ?? IN_FLIGHT);
  const measured = [];
  for (const rate of quick ? [4, 8] : chosen()) {
    const one = await measureFlow(context, { inFlight, rate, ...times, bare: true });
    measured.push({ design: `campaign, ${rate} offered per s`, ...one });
    say(`${rate}/s offered: ${round(one.downloadsPerSecond)}/s downloaded`);
    if (!keptUp(one)) break;
  }
  const best = measured.filter(keptUp).at(-1);
  const most = Math.max(...measured.map((one) => one.downloadsPerSecond));
  return {
    server: measured[0].server,
    values: measured,
    table: flowTable(measured),
    goals: [
      goal(`videos a second with ${inFlight.toLocaleString('en')} in flight`, round(most), '>=', 150, '/s'),
    ],
    notes: [
      best === undefined
        ? 'Not even the lowest rate was kept up.'
        : `The knee: ${best.rate}/s was kept up (at least ${KEPT_UP * 100} % of it), with a p95 of the gap of ${round((best.gaps.p95 ?? 0) / 1000, 2)} s.`,
      limitOf(measured.at(-1)),
      BARE_NOTE,
      'Each rate on a server, a database, a sandbox and a worker of its own; videos have bytes of their own.',
    ],
  };
}

/** `BENCH_RATES=150,200` takes only those. */
function chosen() {
  return process.env.BENCH_RATES?.split(',').map(Number) ?? RATES;
}

function keptUp({ rate, downloadsPerSecond }) {
  return downloadsPerSecond >= KEPT_UP * rate;
}

/** What was busiest at the last rate. */
function limitOf(one) {
  const parts = { server: one.serverCores, worker: one.workerCores, sandbox: one.sandboxCores };
  const [name, cores] = Object.entries(parts).sort(([, a], [, b]) => b - a)[0];
  const all = Object.values(parts).reduce((sum, cores) => sum + cores, 0);
  return `At the last rate all of them took ${round(all, 2)} cores, the ${name} most: ${round(cores, 2)}. The load of the machine was ${round(one.load, 1)}.`;
}

module.exports = { title, run };
