'use strict';
// Time until a campaign that was terminated under load and immediately restarted under its id buys again.
const { Buffer } = require('node:buffer');
const { setTimeout } = require('node:timers/promises');
const { inOwnStack, startFlow } = require('../framework/campaign-flow.js');
const { flowRows } = require('../framework/campaign-rows.js');
const { goal } = require('../framework/goal.js');
const { timeMs } = require('../framework/history.js');
const { median, round } = require('../framework/statistics.js');

const title = 'time until a campaign that was terminated under load and restarted buys again';
const IN_FLIGHT = 1_000;
const ROUNDS = 5;
const CHECK_MS = 100;

async function run(context) {
  const { quick, say } = context;
  const inFlight = quick ? 40 : IN_FLIGHT;
  return inOwnStack(context, async (stack) => {
    const measured = [];
    for (let number = 0; number < (quick ? 1 : ROUNDS); number += 1) {
      const id = `bench-again-${number}`;
      measured.push(await measure(stack, id, inFlight));
      say(`${id}: bought again after ${round(measured.at(-1).seconds, 2)} s`);
    }
    const worst = Math.max(...measured.map(({ seconds }) => seconds));
    return {
      server: stack.serverVersion,
      values: measured,
      table: table(measured),
      goals: [goal('longest time until the campaign buys again', round(worst, 2), '<=', 2, 's')],
      notes: [
        `Terminated with about ${inFlight / 2} of ${inFlight} in flight, while it creates as fast as it can, and restarted as soon as the server has accepted the termination.`,
        "Measured in histories, from the new execution's start to the first answer to a create that it sent. Before that, it reads the manifest, closes the earlier execution's batches in the book, and finds what they bought.",
      ],
    };
  });
}

async function measure({ client, media, folder, sandbox }, id, inFlight) {
  const videos = { inFlight, rate: 10, count: 2 * inFlight, leadSeconds: 60, startsPerSecond: 200 };
  const flow = { id, rows: flowRows(videos), inFlight };
  const first = await created(sandbox);
  await startFlow({ media, folder }, flow);
  while ((await created(sandbox)) - first < inFlight / 2) await setTimeout(CHECK_MS);
  await client.workflow.getHandle(id).terminate();
  const underWay = (await created(sandbox)) - first;
  await startFlow({ media, folder }, { ...flow, rows: flowRows(videos) });
  const startedAt = (await client.workflow.getHandle(id).describe()).startTime.getTime();
  const boughtAt = await firstSend(client, id, startedAt);
  await client.workflow.getHandle(id).terminate();
  return { underWay, seconds: (boughtAt - startedAt) / 1000 };
}

async function created(sandbox) {
  const { operations } = await sandbox.admin.counters({ prompts: false });
  return operations.create.accepted;
}

/** Returns the time of the first answer to a create that a child of this execution sent, in milliseconds. */
async function firstSend(client, id, startedAt) {
  for (;;) {
    await setTimeout(CHECK_MS);
    const times = [];
    for await (const { workflowId, runId, startTime } of client.workflow.list())
      if (workflowId.startsWith(`${id}/`) && startTime.getTime() >= startedAt)
        times.push(...sends(await client.workflow.getHandle(workflowId, runId).fetchHistory()));
    if (times.length > 0) return Math.min(...times);
  }
}

function sends({ events = [] }) {
  return events.flatMap(({ eventTime, activityTaskCompletedEventAttributes: done }) => {
    const [payload] = done?.result?.payloads ?? [];
    const text = payload?.data ? Buffer.from(payload.data).toString('utf8') : '';
    return text.includes('"sent":true') ? [timeMs(eventTime)] : [];
  });
}

function table(measured) {
  const seconds = measured.map((one) => one.seconds);
  return {
    columns: ['round', 'created before termination', 'until it buys again, s'],
    rows: [
      ...measured.map((one, number) => [number + 1, one.underWay, round(one.seconds, 2)]),
      ['median', '', round(median(seconds), 2)],
    ],
  };
}

module.exports = { title, run };
