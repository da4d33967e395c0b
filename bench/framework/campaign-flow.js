'use strict';
// A campaign with so many videos in flight and so many ending a second, watched for a while once all are there.
const { availableParallelism } = require('node:os');
const path = require('node:path');
const { setTimeout } = require('node:timers/promises');
const { measureBareFlow } = require('./bare-flow.js');
const { flowRows, writeManifest } = require('./campaign-rows.js');
const { between, lookAtHistories, checkWork } = require('./flow-look.js');
const { startMediaStack } = require('./media-stack.js');
const { watchMemory } = require('./process-usage.js');
const { Scope } = require('./scope.js');

/** Bytes of their own for each task, and manifests that the worker may read. */
const STACK = {
  sandbox: { videos: 'stamped' },
  env: ({ folder }) => ({ MEDIA_INPUT_ROOTS: folder }),
};

/** A stack of its own, ended before this returns. */
async function inOwnStack({ scope, say }, work, options = {}) {
  const inner = new Scope();
  scope.defer(() => inner.close());
  try {
    const stack = await startMediaStack({ scope: inner, say }, { ...STACK, ...options });
    return await work(stack);
  } finally {
    await inner.close();
  }
}

async function startFlow({ media, folder }, { id, rows, inFlight, eventsPerRun }) {
  const file = path.join(folder, `${id}.jsonl`);
  await writeManifest(file, rows);
  return media.campaigns.start(
    {
      manifest: { source: { file }, format: 'jsonl' },
      concurrency: inFlight,
      waitFor: '24 hours',
      ...(eventsPerRun === undefined ? {} : { eventsPerRun }),
    },
    { id },
  );
}

/**
 * Runs until `inFlight` videos are there or `rampMs` is over, then for `windowMs`, in which the sandbox obeys `faults`.
 * `reached` says how many were in flight when the window began, `newRuns` how many workflows began anew in it.
 * `bare`, if wanted, is what the same requests cost at the rates that were reached, without Temporal and without us.
 */
async function measureFlow(context, { bare = false, ...size }) {
  const measured = await measureCampaign(context, size);
  if (!bare || measured.downloadsPerSecond === 0) return measured;
  const { downloadsPerSecond: videosPerSecond, pollsPerSecond } = measured;
  const forMs = Math.min(size.windowMs, BARE_MS);
  return { ...measured, bare: await measureBareFlow(context, { videosPerSecond, pollsPerSecond, forMs }) };
}

async function measureCampaign(context, { inFlight, rate, windowMs, rampMs, eventsPerRun, faults = [] }) {
  return inOwnStack(context, async (stack) => {
    const { client, sandbox, worker } = stack;
    const id = 'bench-flow';
    // The first ones end when the last of them has started.
    const leadSeconds = Math.ceil(inFlight / RAMP_PER_SECOND) + 10;
    const count = inFlight + Math.ceil(rate * (windowMs / 1000 + rampMs / 1000 + 120));
    const startsPerSecond = RAMP_PER_SECOND;
    const rows = flowRows({ inFlight, rate, count, leadSeconds, startsPerSecond });
    await startFlow(stack, { id, inFlight, rows, eventsPerRun });
    const memory = watchMemory(worker.pid, 500);
    const reached = await untilInFlight(context, sandbox, { inFlight, rampMs, leadSeconds });
    await sandbox.admin.addFaults(faults);
    await setTimeout(Math.min(SETTLE_MS, windowMs));
    const histories = [await lookAtHistories(client, id, sandbox)];
    await sandbox.admin.pollGaps({ begin: true });
    const first = await checkWork(stack);
    await setTimeout(windowMs);
    const last = await checkWork(stack);
    const gaps = await sandbox.admin.pollGaps();
    histories.push(await lookAtHistories(client, id, sandbox));
    return {
      server: stack.serverVersion,
      inFlight,
      rate,
      secondsInFlight: inFlight / rate,
      reached,
      gaps,
      ...between(first, last),
      ...perVideo(...histories),
      peakBytes: memory.stop(),
    };
  });
}

/** Creates a second while a campaign fills up, as measured on two cores; slower only makes the first ends rarer. */
const RAMP_PER_SECOND = 250 * Math.max(1, availableParallelism() / 2);
const SETTLE_MS = 15_000;
const BARE_MS = 30_000;

async function untilInFlight({ say }, sandbox, { inFlight, rampMs, leadSeconds }) {
  const startedAt = Date.now();
  const until = startedAt + rampMs;
  let full = false;
  for (;;) {
    const { operations } = await sandbox.admin.counters({ prompts: false });
    const there = operations.create.accepted - operations.content.accepted;
    if (!full && there >= 0.98 * inFlight) {
      full = true;
      say(`full after ${Math.round((Date.now() - startedAt) / 1000)} s`);
    }
    const leadOver = Date.now() > startedAt + leadSeconds * 1000;
    if ((there >= 0.98 * inFlight && leadOver) || Date.now() > until) {
      say(`${there} of ${inFlight} in flight after ${Math.round((Date.now() - startedAt) / 1000)} s`);
      return there;
    }
    await setTimeout(1_000);
  }
}

function perVideo(first, last) {
  const videos = last.downloads - first.downloads;
  const of = (name) => (videos === 0 ? null : (last[name] - first[name]) / videos);
  const newRuns = last.runs - first.runs;
  return { runs: last.runs, newRuns, eventsPerVideo: of('events'), historyBytesPerVideo: of('bytes') };
}

module.exports = { inOwnStack, measureFlow, startFlow };
