'use strict';
/* global Buffer */
// Campaigns with the real activities against the sandbox: the histories of the parent and its batches.
const { setTimeout: delay } = require('node:timers/promises');
const { QUEUES } = require('./stage');

const video = (id, prompt, more) => ({ id, model: 'cine-1', prompt, duration: 2, ...more });
const videos = (count, prompt) =>
  Array.from({ length: count }, (_, n) => video(`row-${n}`, `${prompt} number ${n}`));
const price = (rows) => ({ microUnits: rows * 100_000, currency: 'USD' });

/**
 * One campaign. `act` does something to it while it runs, and may return another run to record instead. `options` are
 * additional start options.
 */
function campaign(name, expect, rows, input = {}, act = undefined, options = {}) {
  return {
    name,
    expect,
    async run(stage) {
      const { client } = stage.plain;
      const bytes = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
      const artifact = await stage.artifacts.putBuffer(bytes, { mediaType: 'application/jsonl' });
      const start = (more = {}) =>
        client.workflow.start('runCampaign', {
          taskQueue: QUEUES.real,
          workflowId: name,
          ...options,
          args: [{ manifest: { source: { artifact }, format: 'jsonl' }, ...input, ...more }],
        });
      const first = await start();
      const handle = (await act?.(first, client, start)) ?? first;
      await handle.result();
      const batches = await batchesOf(client, name);
      const stem = name.replace('runCampaign', 'campaignBatch');
      return [
        { handle, server: stage.plain, stem: name },
        ...batches.map((batch, place) => ({
          ...batch,
          server: stage.plain,
          stem: batches.length > 1 ? `${stem}-batch${place}` : stem,
          expect: null,
        })),
      ];
    },
  };
}

/** Returns the batches that completed. Others were ended with their campaign or manually. */
async function batchesOf(client, id) {
  const batches = [];
  for (let batch = 0; ; batch++) {
    const handle = client.workflow.getHandle(`${id}/batch/${batch}`);
    const found = await handle.describe().catch(() => undefined);
    if (found === undefined) return batches;
    if (found.status.name === 'COMPLETED') batches.push({ handle, firstRunId: found.runId });
  }
}

async function until(handle, what) {
  for (const end = Date.now() + 60_000; ; await delay(200)) {
    if (what(await handle.query('campaign_state'))) return;
    if (Date.now() > end)
      throw new Error(`${handle.workflowId}: the campaign did not reach the expected state`);
  }
}

/** Retries rows, as a person would, once one of them has ended with `outcome`. */
const retryOnce = (outcome) => async (handle) => {
  await until(handle, ({ counts }) => counts[outcome] === 1);
  await handle.executeUpdate('resumeRows', { args: [{ select: { rows: 'retry' } }] });
};

const campaignCases = [
  campaign('runCampaign.completed', 'completed', [
    ...videos(3, '[run:1s] a kite'),
    video('moderated', '[run:1s] [fail:moderation] a kite'),
    video('full', '[run:1s] [fail:capacity] a kite'),
    video('lost', '[lost-reply] a lighthouse'),
    { id: 'image', operation: 'image', model: 'image-2', prompt: 'a boat', size: '512x512' },
  ]),
  campaign('runCampaign.continued', 'completed', videos(24, '[run:1s] a boat'), {
    concurrency: 8,
    eventsPerRun: 40,
  }),
  // Batches at a steady pace: tasks join a group that waits for its next poll, before and after a hand back.
  campaign('runCampaign.steady', 'completed', videos(24, '[run:7s] a mill'), {
    concurrency: 12,
    eventsPerRun: 60,
  }),
  campaign('runCampaign.several-batches', 'completed', videos(30, '[queue:0s] [run:1s] a swan'), {
    concurrency: 20,
    rowsPerBatch: 12,
  }),
  campaign('runCampaign.budget-spent', 'completed', videos(12, '[run:1s] a lake'), { budget: price(5) }),
  // The campaign reads a lost batch's cost from the journal and gives its rows to another batch.
  campaign(
    'runCampaign.batch-lost',
    'completed',
    videos(12, '[run:3s] a lamp'),
    { concurrency: 4, budget: price(12) },
    async (handle, client) => {
      await until(handle, ({ inFlight }) => inFlight > 0);
      await client.workflow.getHandle(`${handle.workflowId}/batch/0`).terminate('gone');
    },
  ),
  campaign('runCampaign.refused', 'refused', [video('bad', 'a kite', { duration: 3 })]),
  campaign(
    'runCampaign.paused-and-resumed',
    'completed',
    [...videos(6, '[run:8s] a storm'), video('bad', '[run:0s] [fail:invalid] a storm')],
    { concurrency: 4, maxAttempts: 1 },
    async (handle) => {
      await until(handle, ({ inFlight }) => inFlight > 0);
      await handle.executeUpdate('pause');
      await handle.executeUpdate('setConcurrency', { args: [{ concurrency: 8 }] });
      await handle.executeUpdate('resume');
      await retryOnce('failed')(handle);
    },
  ),
  // The manifest is read again while rows are in progress.
  campaign(
    'runCampaign.resumed-beside',
    'completed',
    [...videos(6, '[run:8s] a cloud'), video('bad', '[run:0s] [fail:invalid] a cloud')],
    { concurrency: 4, maxAttempts: 1 },
    retryOnce('failed'),
  ),
  // Refused rows are resumed like failed ones if no outcomes are named.
  campaign(
    'runCampaign.resume-refused',
    'completed',
    [...videos(6, '[run:8s] a fern'), video('bad', '[http:400] a fern')],
    { concurrency: 4, maxAttempts: 1 },
    retryOnce('rejected'),
  ),
  // What the terminated batch bought is looked up.
  campaign(
    'runCampaign.started-again',
    'completed',
    videos(12, '[run:3s] a gate'),
    { concurrency: 4, budget: price(12) },
    async (handle, client, start) => {
      await until(handle, ({ inFlight }) => inFlight > 0);
      await client.workflow.getHandle(handle.workflowId).terminate('gone');
      return start();
    },
  ),
  // Its book continues.
  campaign(
    'runCampaign.followed',
    'completed',
    videos(6, '[run:1s] a ford'),
    { concurrency: 4, budget: price(3) },
    async (handle, _client, start) => {
      const { results } = await handle.result();
      return start({ previous: results, budget: price(6) });
    },
  ),
  // An image call is open when a batch's history is full.
  campaign(
    'runCampaign.images-to-the-end',
    'completed',
    [
      { id: 'image', operation: 'image', model: 'image-2', prompt: '[run:9s] a bay', size: '512x512' },
      ...videos(30, '[run:1s] a bay'),
    ],
    { concurrency: 6, eventsPerRun: 60 },
  ),
  campaign(
    'runCampaign.cancelled',
    'cancelled',
    videos(20, '[run:4s] a river'),
    { concurrency: 5 },
    async (handle) => {
      await until(handle, ({ inFlight }) => inFlight > 0);
      await handle.executeUpdate('cancel');
    },
  ),
];

module.exports = { campaign, campaignCases };
