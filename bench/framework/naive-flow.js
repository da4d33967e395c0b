'use strict';
// The ordinary design for comparison: one workflow per video, each with a timer loop of its own. It is our generateVideo.
const { setTimeout } = require('node:timers/promises');
const { MODEL, promptOf } = require('./campaign-rows.js');
const { inOwnStack } = require('./campaign-flow.js');
const { between, checkWork } = require('./flow-look.js');
const { watchMemory } = require('./process-usage.js');
const { refill } = require('./refill.js');

const SETTLE_MS = 8_000;
const STARTS_PER_SECOND = 10;
/** Histories that are looked at; the others are like them. */
const SAMPLE = 40;

/** What a full machine reaches is measured too: starting ends after `rampMs`. */
async function measureNaive(context, { inFlight, rate, windowMs, rampMs }) {
  return inOwnStack(context, async (stack) => {
    const { client, sandbox, worker } = stack;
    const whole = inFlight / rate;
    const start = async (n, seconds) => {
      const request = { model: MODEL, prompt: promptOf(n, seconds), durationSeconds: 3, resolution: '480p' };
      await stack.media.startVideo({ request, waitFor: '24h' }, { id: `bench-naive-${n}` });
    };
    const memory = watchMemory(worker.pid, 500);
    const until = Date.now() + rampMs;
    const leadSeconds = Math.min(rampMs / 1000, inFlight / STARTS_PER_SECOND + 10);
    let next = 0;
    const starter = async () => {
      while (next < inFlight && Date.now() < until) {
        const n = next++;
        await start(n, leadSeconds + (whole * (n + 1)) / inFlight);
      }
    };
    await Promise.all(Array.from({ length: 10 }, starter));
    const created = async () => (await sandbox.admin.counters({ prompts: false })).operations.create.accepted;
    while ((await created()) < next && Date.now() < until) await setTimeout(500);
    const reached = await created();
    context.say(`${reached} of ${inFlight} in flight`);
    await setTimeout(Math.min(SETTLE_MS, windowMs));
    await sandbox.admin.pollGaps({ begin: true });
    const first = await checkWork(stack);
    const ends = Date.now() + windowMs;
    const refilling = refill(ends, rate, () => start(next++, whole));
    await setTimeout(windowMs);
    const last = await checkWork(stack);
    const gaps = await sandbox.admin.pollGaps();
    await refilling;
    const histories = await ended(client);
    return {
      server: stack.serverVersion,
      inFlight,
      rate,
      secondsInFlight: whole,
      reached,
      gaps,
      ...between(first, last),
      ...histories,
      peakBytes: memory.stop(),
    };
  });
}

/** Events and bytes of videos that are done; null when none is. */
async function ended(client) {
  const found = [];
  const query = 'WorkflowType = "generateVideo" AND ExecutionStatus = "Completed"';
  for await (const { workflowId } of client.workflow.list({ query })) {
    found.push(await client.workflow.getHandle(workflowId).describe());
    if (found.length >= SAMPLE) break;
  }
  const mean = (read) =>
    found.length === 0 ? null : found.reduce((sum, one) => sum + read(one), 0) / found.length;
  return {
    eventsPerVideo: mean(({ historyLength }) => historyLength),
    historyBytesPerVideo: mean(({ historySize }) => historySize ?? 0),
  };
}

module.exports = { measureNaive };
