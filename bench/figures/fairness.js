'use strict';
// How long a tenant's small campaign takes beside a large tenant's campaigns, with the queues shared by campaign and by
// tenant.
const path = require('node:path');
const { performance } = require('node:perf_hooks');
const { setTimeout } = require('node:timers/promises');
const { startTemporalServer } = require('../../packages/testing/lib/index.js');
const { inOwnStack } = require('../framework/campaign-flow.js');
const { quickRows, writeManifest } = require('../framework/campaign-rows.js');
const { cleanEnvironment } = require('../framework/media-stack.js');
const { median, round } = require('../framework/statistics.js');

const title = "time of a tenant's 10 rows beside 1,000 rows of another tenant, by campaign and by tenant";
const CREATES_PER_SECOND = 20;
const LARGE = { campaigns: 10, rows: 100 };
const SMALL_ROWS = 10;
const ROUNDS = 3;
/** By then the large tenant's creates are in the queue. */
const HEAD_START_MS = 5_000;

const OPTIONS = {
  env: ({ folder }) => ({
    MEDIA_INPUT_ROOTS: folder,
    MEDIA_CREATES_PER_SECOND: String(CREATES_PER_SECOND),
  }),
  startServer: async ({ scope, say }, dataDir) => {
    const dynamicConfig = { 'matching.enableFairness': 'true' };
    const server = await startTemporalServer({
      ...{ dataDir, dynamicConfig, env: cleanEnvironment(), onProgress: say },
    });
    scope.defer(() => server.stop());
    return server;
  },
};

async function run(context) {
  const { quick, say } = context;
  const measured = { campaign: [], 'label:tenant': [] };
  return inOwnStack(
    context,
    async (stack) => {
      for (let number = 0; number < (quick ? 1 : ROUNDS); number += 1)
        for (const fairness of Object.keys(measured)) {
          const seconds = await measure(stack, fairness, `${fairness.replace(':', '-')}-${number}`);
          measured[fairness].push(seconds);
          say(`shared by ${fairness}: ${round(seconds, 1)} s`);
        }
      const [byCampaign, byTenant] = Object.values(measured).map(median);
      return {
        server: stack.serverVersion,
        values: { ...measured, ratio: byCampaign / byTenant },
        table: {
          columns: ['queues shared by', `${SMALL_ROWS} rows done after, s`],
          rows: Object.entries(measured).map(([fairness, all]) => [
            fairness,
            all.map((seconds) => round(seconds, 1)).join(', '),
          ]),
        },
        goals: [],
        notes: [
          `${CREATES_PER_SECOND} creates a second, limited by the server (MEDIA_CREATES_PER_SECOND), with matching.enableFairness. The large tenant has ${LARGE.campaigns} campaigns of ${LARGE.rows} rows, started ${HEAD_START_MS / 1000} s earlier.`,
        ],
      };
    },
    OPTIONS,
  );
}

/** Returns the seconds from the start of the small tenant's campaign to its end. */
async function measure(stack, fairness, name) {
  const { client, media } = stack;
  const start = async (id, tenant, count) => {
    const file = path.join(stack.folder, `${id}.jsonl`);
    await writeManifest(file, quickRows(count));
    const manifest = { source: { file }, format: 'jsonl' };
    return media.campaigns.start({ manifest, concurrency: count, labels: { tenant }, fairness }, { id });
  };
  const large = Array.from({ length: LARGE.campaigns }, (_, nth) => `large-${name}-${nth}`);
  await Promise.all(large.map((id) => start(id, 'large', LARGE.rows)));
  await setTimeout(HEAD_START_MS);
  const begun = performance.now();
  const small = await start(`small-${name}`, 'small', SMALL_ROWS);
  await small.result();
  const seconds = (performance.now() - begun) / 1000;
  await Promise.all(large.map((id) => client.workflow.getHandle(id).terminate()));
  // What the server has handed out ends before the next round.
  await setTimeout(HEAD_START_MS);
  return seconds;
}

module.exports = { title, run };
