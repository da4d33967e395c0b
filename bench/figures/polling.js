'use strict';
// Single videos with own polling, single videos with shared polling, and a campaign.
const { measureFlow } = require('../framework/campaign-flow.js');
const { startEmptyFlow } = require('../framework/empty-flow.js');
const { inSeconds, or } = require('../framework/flow-table.js');
const { goal } = require('../framework/goal.js');
const { measurePlain } = require('../framework/plain-flow.js');
const { round } = require('../framework/statistics.js');

const title = 'single videos in flight at a 4 s interval: own polling, shared polling and a campaign';
const SIZES = [
  { inFlight: 240, seconds: 60 },
  { inFlight: 480, seconds: 60 },
  { inFlight: 720, seconds: 60 },
  { inFlight: 1_000, seconds: 300 },
  { inFlight: 4_000, seconds: 300 },
  { inFlight: 8_000, seconds: 900 },
];
const QUICK = [{ inFlight: 10, seconds: 10 }];
/** Own polling is nearly saturated at this number. */
const MOST_OWN = 240;
/** `campaign-scale` measures campaigns with more. */
const MOST_CAMPAIGN = 4_000;
/** Approximate number of videos that two cores start per second. */
const STARTS_PER_SECOND = 16;
/** A saturated machine starts no more videos. The number that it reached by then is measured. */
const OWN_RAMP_MS = 120_000;

async function run(context) {
  const { quick, minutes, say } = context;
  const windowMs = quick ? 10_000 : Math.min(minutes, 1) * 60_000;
  const measured = [];
  for (const { inFlight, seconds } of quick ? QUICK : chosen()) {
    const rate = inFlight / seconds;
    const rampMs = quick ? 60_000 : (inFlight / STARTS_PER_SECOND + 60) * 1000;
    for (const polling of ['own', 'shared'].filter((one) => isWanted(one, inFlight))) {
      const limit = polling === 'own' ? Math.min(rampMs, OWN_RAMP_MS) : rampMs;
      const size = { inFlight, seconds, windowMs, startsPerSecond: STARTS_PER_SECOND };
      measured.push(...(await besideEmpty(context, { ...size, polling, rate, rampMs: limit })));
    }
    if (isWanted('campaign', inFlight)) {
      const flow = { inFlight, rate, windowMs, rampMs: Math.max(60_000, rampMs) };
      measured.push({ design: 'campaign', runSeconds: seconds, ...(await measureFlow(context, flow)) });
    }
    say(`${inFlight} of ${seconds} s: done`);
  }
  return {
    server: measured[0]?.server,
    values: measured,
    table: table(measured),
    goals: goals(measured),
    notes: [
      'Each design has its own server, database, sandbox and worker, all on this machine. Videos start and end all the time.',
      'A gap is the time between two polls of a task, as seen by the sandbox. The lag is the time from the end of a task to the outcome with its file.',
      'Empty is a workflow of two empty activities, as many as a video with shared polling has. As many are started per second as videos, at the same time and on a server and a worker of their own. This is the cost of Temporal alone on this machine.',
      "CPU per video includes the create, all polls and the download. Actions and events are the video's, plus its share of its watcher's.",
      `Own polling is measured up to ${MOST_OWN} videos, where it is saturated, and campaigns up to ${MOST_CAMPAIGN}; campaign-scale measures more.`,
      'Actions are starts, signals, timers and activity attempts in histories.',
    ],
  };
}

/** Measures videos beside as many empty workflows, so that a disturbance of the machine hits both. */
async function besideEmpty(context, { rate, ...size }) {
  const flow = await startEmptyFlow(context, { rate });
  const looks = [];
  const plain = await measurePlain(context, { ...size, onLook: () => looks.push(flow.look()) });
  const { inFlight, seconds: runSeconds, polling } = size;
  const empty = { ...flow.between(...looks), inFlight, runSeconds, beside: polling };
  await flow.close();
  // Null if no video ended in time.
  const timesEmpty = plain.msPerVideo === null ? null : plain.msPerVideo / empty.msPerVideo;
  return [empty, { ...plain, timesEmpty }];
}

/** Whether `BENCH_DESIGNS=shared,campaign` includes it. By default all are measured, up to their limits. */
function isWanted(design, inFlight) {
  const most = { own: MOST_OWN, campaign: MOST_CAMPAIGN }[design] ?? Infinity;
  const wanted = process.env.BENCH_DESIGNS?.split(',');
  return inFlight <= most && (wanted === undefined || wanted.includes(design));
}

/** Reads `BENCH_SIZES=250x60,1000x300`: videos in flight x seconds per video. */
function chosen() {
  const wanted = process.env.BENCH_SIZES?.split(',').map((text) => text.split('x').map(Number));
  if (wanted === undefined) return SIZES;
  return wanted.map(([inFlight, seconds = 300]) => ({ inFlight, seconds }));
}

function table(measured) {
  return {
    columns: [
      'polling',
      'in flight (reached) x seconds',
      'polls/s (of target)',
      'gap p50 / p95 / max, s',
      'lag p50 / p95, s',
      'ended per s',
      'server + worker, cores',
      'ms per video',
      'times empty',
      'events + share of watcher',
      'actions + share of watcher',
      'worker, MiB',
    ],
    rows: measured.map((one) => (one.design === 'empty' ? emptyRow(one) : videoRow(one))),
  };
}

function emptyRow(one) {
  return [
    `empty, beside ${one.beside}`,
    `${one.inFlight} x ${one.runSeconds}`,
    ...Array(3).fill('–'),
    `${round(one.perSecond)}`,
    coresOf(one),
    or(one.msPerVideo),
    '1',
    ...Array(3).fill('–'),
  ];
}

function videoRow(one) {
  return [
    one.design,
    `${one.inFlight} (${one.reached}) x ${one.runSeconds}`,
    `${round(one.pollsPerSecond)} of ${round(one.reached / 4)}`,
    `${inSeconds(one.gaps.p50)} / ${inSeconds(one.gaps.p95)} / ${inSeconds(one.gaps.max)}`,
    `${inSeconds(one.lagMs?.p50)} / ${inSeconds(one.lagMs?.p95)}`,
    `${round(one.downloadsPerSecond)}`,
    coresOf(one),
    or(one.msPerVideo),
    or(one.timesEmpty, 2),
    `${or(one.eventsPerVideo)} + ${or(one.watcherEventsPerVideo)}`,
    `${or(one.actionsPerVideo)} + ${or(one.watcherActionsPerVideo)}`,
    round(one.peakBytes / 2 ** 20, 0),
  ];
}

const coresOf = ({ serverCores, workerCores }) => `${round(serverCores, 2)} + ${round(workerCores, 2)}`;

function goals(measured) {
  return measured
    .filter(({ design }) => design === 'shared')
    .flatMap((one) => {
      const name = `${one.inFlight} shared`;
      const p95 = one.gaps.p95 === null ? Infinity : one.gaps.p95 / 1000;
      return [
        goal(`${name}: p95 gap`, round(p95, 2), '<=', 5, 's'),
        ...(one.msPerVideo === null
          ? []
          : [
              goal(`${name}: CPU per video`, round(one.msPerVideo), '<=', 70, 'ms'),
              goal(`${name}: times empty`, round(one.timesEmpty, 2), '<=', 1.4, ''),
            ]),
        ...(one.eventsPerVideo === null
          ? []
          : [
              goal(`${name}: events per video`, round(one.eventsPerVideo), '<=', 20, ''),
              goal(`${name}: actions per video`, round(one.actionsPerVideo), '<=', 12, ''),
            ]),
      ];
    });
}

module.exports = { title, run };
