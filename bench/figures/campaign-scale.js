'use strict';
// Videos in flight: a workflow with a timer loop for each video, against campaigns.
const { measureFlow } = require('../framework/campaign-flow.js');
const { BARE_NOTE, flowTable } = require('../framework/flow-table.js');
const { goal } = require('../framework/goal.js');
const { measureNaive } = require('../framework/naive-flow.js');
const { round } = require('../framework/statistics.js');

const title = 'videos in flight: one workflow with a timer loop each, against campaigns, at a 4 s interval';
/** Videos in flight, and how many end a second. The naive design is full long before the last two. */
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
      'The gap is the time from one poll of a task to its next, as the sandbox saw it.',
      'Each size on a server, a database, a sandbox and a worker of its own, all on this machine; videos end and begin all the time.',
      'CPU of server and worker by video holds its create, all its polls and its download.',
      BARE_NOTE,
      'The load is the average of the last minute: above the number of cores, others were at work on this machine.',
    ],
  };
}

/** `BENCH_SIZES=250,1000` leaves the others out. */
function chosen() {
  const wanted = process.env.BENCH_SIZES?.split(',').map(Number);
  return wanted === undefined ? SIZES : SIZES.filter(({ inFlight }) => wanted.includes(inFlight));
}

function goals(measured) {
  const of = (inFlight) => measured.find((one) => one.design === 'campaign' && one.inFlight === inFlight);
  const found = [];
  for (const [inFlight, limit] of [
    [10_000, 4.5],
    [25_000, 5],
  ]) {
    const one = of(inFlight);
    if (one === undefined) continue;
    const name = inFlight.toLocaleString('en');
    const p95 = one.gaps.p95 === null ? Infinity : one.gaps.p95 / 1000;
    found.push(goal(`p95 of the gap with ${name} in flight`, round(p95, 2), '<=', limit, 's'));
    found.push(
      goal(
        `memory of the worker with ${name} in flight`,
        round(one.peakBytes / 2 ** 20, 0),
        '<=',
        450,
        'MiB',
      ),
    );
    if (one.eventsPerVideo !== null)
      found.push(goal(`events per video with ${name} in flight`, round(one.eventsPerVideo), '<=', 12, ''));
    if (one.msPerVideo !== null)
      found.push(goal(`CPU per video with ${name} in flight`, round(one.msPerVideo), '<=', 6, 'ms'));
  }
  return found;
}

module.exports = { title, run };
