'use strict';
// What polling loses to hand backs and to a slow service: the gaps between two polls of a task.
const { measureFlow } = require('../framework/campaign-flow.js');
const { flowTable } = require('../framework/flow-table.js');
const { goal } = require('../framework/goal.js');
const { round } = require('../framework/statistics.js');

const title =
  'gaps between polls while every batch hands back, one by one and then all with the campaign, and while some polls take 2 s';
const IN_FLIGHT = 10_000;
const RATE = 50;
/** Every batch comes to this once in a minute at this rate, and the campaign too: then all hand back at once. */
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
      goal('p95 of the gap with slow polls', seconds(slow.gaps.p95), '<=', 4.5, 's'),
    ],
    notes: [
      `${renewed.newRuns} batches and runs of the campaign began in ${round(renewed.seconds)} s, with ${quick ? 30 : EVENTS_PER_RUN} events for each.`,
      'The gap is the time from one poll of a task to its next, as the sandbox saw it.',
    ],
  };
}

module.exports = { title, run };
