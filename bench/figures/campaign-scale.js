'use strict';
// Videos in flight: one workflow with a timer loop per video, against campaigns.
const { measureFlow } = require('../framework/campaign-flow.js');
const { BARE_NOTE, bareGoals, flowTable } = require('../framework/flow-table.js');
const { goal } = require('../framework/goal.js');
const { measureNaive } = require('../framework/naive-flow.js');
const { round } = require('../framework/statistics.js');

const title = 'videos in flight at a 4 s interval: one workflow per video against campaigns';
/** Videos in flight, and how many end per second. The naive design is saturated long before the last two. */
const SIZES = [
  { inFlight: 250, rate: 4 },
  { inFlight: 1_000, rate: 16 },
  { inFlight: 10_000, rate: 50, naive: false },
  { inFlight: 25_000, rate: 50, naive: false },
];
const QUICK = [{ inFlight: 20, rate: 2 }];

async function run(context) {
  const { quick, minutes, say } = context;
  const times = quick
    ? { windowMs: 10_000, rampMs: 60_000 }
    : { windowMs: Math.min(minutes, 1) * 60_000, rampMs: 600_000 };
  const measured = [];
  for (const { naive = true, ...size } of quick ? QUICK : chosen()) {
    if (naive) {
      const rampMs = Math.min(times.rampMs, 90_000);
      measured.push({
        design: 'a workflow per video',
        ...(await measureNaive(context, { ...size, ...times, rampMs })),
      });
    }
    measured.push({ design: 'campaign', ...(await measureFlow(context, { ...size, ...times, bare: true })) });
    say(`${size.inFlight} in flight: done`);
  }
  const [{ server }] = measured;
  return {
    server,
    values: measured,
    table: flowTable(measured),
    goals: goals(measured),
    notes: [
      'A gap is the time between two polls of a task, as seen by the sandbox.',
      'Each size has its own server, database, sandbox and worker, all on this machine. Videos start and end all the time.',
      'CPU per video includes the create, all polls and the download on server and worker.',
      BARE_NOTE,
      'The load is the one-minute average. If it exceeds the number of cores, other processes were busy on this machine.',
    ],
  };
}

/** `BENCH_SIZES=250,1000` measures only these sizes. */
function chosen() {
  const wanted = process.env.BENCH_SIZES?.split(',').map(Number);
  return wanted === undefined ? SIZES : SIZES.filter(({ inFlight }) => wanted.includes(inFlight));
}

function goals(measured) {
  const of = (inFlight) => measured.find((one) => one.design === 'campaign' && one.inFlight === inFlight);
  const found = [];
  for (const [inFlight, limit, mostMiB] of [
    [10_000, 4.5, 400],
    [25_000, 5, 480],
  ]) {
    const one = of(inFlight);
    if (one === undefined) continue;
    const name = inFlight.toLocaleString('en');
    const p95 = one.gaps.p95 === null ? Infinity : one.gaps.p95 / 1000;
    found.push(goal(`p95 gap with ${name} in flight`, round(p95, 2), '<=', limit, 's'));
    found.push(
      goal(`worker memory with ${name} in flight`, round(one.peakBytes / 2 ** 20, 0), '<=', mostMiB, 'MiB'),
    );
    if (one.eventsPerVideo !== null)
      found.push(goal(`events per video with ${name} in flight`, round(one.eventsPerVideo), '<=', 12, ''));
    if (one.msPerVideo !== null)
      found.push(goal(`CPU per video with ${name} in flight`, round(one.msPerVideo), '<=', 6, 'ms'));
    found.push(...bareGoals(`times bare with ${name} in flight`, one));
  }
  return found;
}

module.exports = { title, run };
