'use strict';
// Time until a workflow knows that the service finished its video, with 100 single videos in flight, and the CPU that a
// poll costs the server and the worker.
const { setTimeout } = require('node:timers/promises');
const { activityTimes } = require('../framework/history.js');
const { startMediaStack } = require('../framework/media-stack.js');
const { cpuMs } = require('../framework/process-usage.js');
const { round, summary } = require('../framework/statistics.js');

const title = 'detection lag with 100 single videos in flight, and CPU per poll';
/** Mean interval of the model's polling profile, 3 to 5 s. */
const INTERVAL_MS = 4_000;
const MODEL = 'cine-1';

async function run(context) {
  const { say, quick } = context;
  const size = quick ? { videos: 6, settleMs: 6_000, windowMs: 8_000 } : FULL;
  const stack = await startMediaStack(context);
  const startMs = size.videos * PACE_MS;
  // Nothing is finished before the window of the CPU is over; then the ends are spread over three intervals.
  const quietMs = startMs + size.settleMs + size.windowMs + 2_000;
  const startedAt = Date.now();
  const ends = [];
  for (let at = 0; at < size.videos; at += 1) {
    const endsAt = startedAt + quietMs + (at / size.videos) * 3 * INTERVAL_MS;
    ends.push(await startVideo(stack, `bench-video-${at}`, (endsAt - Date.now()) / 1000));
    await setTimeout(Math.max(0, startedAt + (at + 1) * PACE_MS - Date.now()));
  }
  await setTimeout(size.settleMs);
  say(`${size.videos} videos in flight`);
  const cost = await costOfPolls(stack, size.windowMs);
  // Whoever ends is replaced, so that as many stay in flight.
  const lags = await Promise.all(ends.map((video, at) => lagOf(stack, video, `bench-ballast-${at}`)));
  return { server: stack.serverVersion, ...figures(lags, cost, size) };
}

const FULL = { videos: 100, settleMs: 8_000, windowMs: 24_000 };
/** Milliseconds between two starts. */
const PACE_MS = 80;

async function startVideo({ media }, id, runSeconds) {
  // The sandbox reads seconds with fractions.
  const prompt = `a kite [queue:0s] [run:${runSeconds.toFixed(3)}s]`;
  const request = { model: MODEL, prompt, durationSeconds: 2, resolution: '480p' };
  return media.startVideo({ request, waitFor: '30m' }, { id });
}

async function costOfPolls({ server, worker, sandbox }, windowMs) {
  const look = async () => ({
    polls: (await sandbox.admin.counters()).operations.poll.received,
    server: cpuMs(server.pid),
    worker: cpuMs(worker.pid),
  });
  const before = await look();
  await setTimeout(windowMs);
  const after = await look();
  const polls = after.polls - before.polls;
  return {
    polls,
    seconds: windowMs / 1000,
    serverMsPerPoll: (after.server - before.server) / polls,
    workerMsPerPoll: (after.worker - before.worker) / polls,
  };
}

/** From the time at which the sandbox shows `completed` to the command for the download in the workflow's history. */
async function lagOf(stack, started, ballast) {
  const outcome = await started.result();
  if (outcome.outcome !== 'completed') throw new Error(`A video ended with outcome ${outcome.outcome}.`);
  await startVideo(stack, ballast, 600);
  const history = await stack.client.workflow.getHandle(started.workflowId).fetchHistory();
  const known = activityTimes(history, 'media.downloadVideo').scheduled;
  const poll = activityTimes(history, 'media.pollVideos');
  const task = (await tasksOf(stack)).get(outcome.video.taskId);
  const finished = task.createdAt + task.queuedMs + task.runningMs;
  return {
    lagMs: known - finished,
    untilPollMs: poll.scheduled - finished,
    pollWaitMs: poll.started - poll.scheduled,
    pollMs: poll.completed - poll.started,
    workflowTaskMs: known - poll.completed,
  };
}

/** Asked once for all. */
async function tasksOf(stack) {
  stack.tasks ??= stack.sandbox.admin.tasks().then((tasks) => new Map(tasks.map((task) => [task.id, task])));
  return stack.tasks;
}

const PARTS = [
  ['untilPollMs', 'until the poll is due'],
  ['pollWaitMs', 'until a worker has the poll'],
  ['pollMs', 'the poll'],
  ['workflowTaskMs', 'until the workflow has acted'],
];

function figures(lags, cost, { videos }) {
  const of = (key) =>
    summary(
      lags.map((one) => one[key]),
      0,
    );
  const lag = of('lagMs');
  const parts = Object.fromEntries(PARTS.map(([key]) => [key, of(key)]));
  const half = INTERVAL_MS / 2;
  const ratio = round(lag.p50 / half, 2);
  const rate = round(cost.polls / cost.seconds);
  return {
    values: {
      lagMs: lag,
      lagToHalfInterval: ratio,
      parts,
      intervalMs: INTERVAL_MS,
      cost,
      pollsPerSecond: rate,
    },
    table: {
      columns: ['figure', 'value', 'reference'],
      rows: [
        ['detection lag, p50', `${lag.p50} ms`, `interval/2 = ${half} ms, ratio ${ratio}`],
        ['detection lag, p95', `${lag.p95} ms`, `interval = ${INTERVAL_MS} ms`],
        ...PARTS.map(([key, text]) => [`… ${text}, p50`, `${parts[key].p50} ms`, `p95 ${parts[key].p95} ms`]),
        ['CPU of the Temporal server per poll', `${round(cost.serverMsPerPoll)} ms`, `${rate} polls/s`],
        [
          'CPU of the worker per poll',
          `${round(cost.workerMsPerPoll)} ms`,
          `${round(videos / (INTERVAL_MS / 1000))} polls/s targeted`,
        ],
      ],
    },
    notes: [
      `${videos} videos, each a workflow polled every 3 to 5 s. Finished ones are replaced; ${lag.count} finished.`,
      'The lag ends when the history schedules the download, so it includes the poll activity and the workflow task.',
      `CPU over ${cost.seconds} s with only polls.`,
    ],
  };
}

module.exports = { title, run };
