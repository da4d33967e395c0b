'use strict';
// How many videos per second a campaign creates, polls and downloads with many in flight, until it falls behind.
const { measureFlow } = require('../framework/campaign-flow.js');
const { BARE_NOTE, bareGoals, flowTable } = require('../framework/flow-table.js');
const { goal } = require('../framework/goal.js');
const { round } = require('../framework/statistics.js');

const title = 'small videos per second, created, polled and downloaded with 10,000 in flight';
const IN_FLIGHT = 10_000;
const RATES = [50, 100, 150, 200, 300];
/** Below this share of the offered rate, the machine is saturated. */
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
      goal(`videos per second with ${inFlight.toLocaleString('en')} in flight`, round(most), '>=', 200, '/s'),
      ...measured.flatMap((one) => bareGoals(`${one.design}: times bare`, one)),
    ],
    notes: [
      best === undefined
        ? 'The machine did not keep up with even the lowest rate.'
        : `The machine kept up with ${best.rate}/s (at least ${KEPT_UP * 100} % of it), with a p95 gap of ${round((best.gaps.p95 ?? 0) / 1000, 2)} s.`,
      limitOf(measured.at(-1)),
      BARE_NOTE,
      'Each rate has its own server, database, sandbox and worker, and each video its own bytes.',
    ],
  };
}

/** `BENCH_RATES=150,200` measures only these rates. */
function chosen() {
  return process.env.BENCH_RATES?.split(',').map(Number) ?? RATES;
}

function keptUp({ rate, downloadsPerSecond }) {
  return downloadsPerSecond >= KEPT_UP * rate;
}

/** Describes what was busiest at the last rate. */
function limitOf(one) {
  const parts = { server: one.serverCores, worker: one.workerCores, sandbox: one.sandboxCores };
  const [name, cores] = Object.entries(parts).sort(([, a], [, b]) => b - a)[0];
  const all = Object.values(parts).reduce((sum, cores) => sum + cores, 0);
  return `At the last rate they used ${round(all, 2)} cores, of which the ${name} used most, ${round(cores, 2)}. The machine's load was ${round(one.load, 1)}.`;
}

module.exports = { title, run };
