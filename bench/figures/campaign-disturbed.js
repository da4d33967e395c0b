'use strict';
// Gaps between two polls of a task while batches hand back rows and while the service is slow.
const { measureFlow } = require('../framework/campaign-flow.js');
const { flowTable } = require('../framework/flow-table.js');
const { goal } = require('../framework/goal.js');
const { round } = require('../framework/statistics.js');

const title = 'gaps between polls while batches hand back their rows, and while some polls take 2 s';
const IN_FLIGHT = 10_000;
const RATE = 50;
/** Every batch reaches this once a minute at this rate, and so does the campaign: then all hand back together. */
const EVENTS_PER_RUN = 600;
const SLOW = [{ operation: 'poll', every: 500, times: 0, action: { type: 'delay', ms: 2_000 } }];

async function run(context) {
  const { quick, minutes, say } = context;
  const size = quick
    ? { inFlight: 20, rate: 2, windowMs: 10_000, rampMs: 60_000 }
    : {
        inFlight: Number(process.env.BENCH_IN_FLIGHT ?? IN_FLIGHT),
        rate: RATE,
        windowMs: Math.min(minutes, 1) * 60_000,
        rampMs: 600_000,
      };
  const measured = [];
  for (const [design, disturbance] of [
    ['every batch hands back', { eventsPerRun: quick ? 30 : EVENTS_PER_RUN }],
    ['0.2 % of the polls take 2 s', { faults: SLOW }],
  ]) {
    measured.push({ design, ...(await measureFlow(context, { ...size, ...disturbance })) });
    say(`${design}: done`);
  }
  const [renewed, slow] = measured;
  const seconds = (ms) => (ms === null ? Infinity : round(ms / 1000, 2));
  return {
    server: renewed.server,
    values: measured,
    table: flowTable(measured),
    goals: [
      goal('largest gap while every batch hands back', seconds(renewed.gaps.max), '<=', 6, 's'),
      goal('p95 gap with slow polls', seconds(slow.gaps.p95), '<=', 4.5, 's'),
    ],
    notes: [
      `${renewed.newRuns} batches and campaign runs started within ${round(renewed.seconds)} s, with ${quick ? 30 : EVENTS_PER_RUN} events each.`,
      'A gap is the time between two polls of a task, as seen by the sandbox.',
    ],
  };
}

module.exports = { title, run };
