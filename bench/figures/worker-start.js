'use strict';
// Time from a worker's creation to its first poll, with the shipped bundle and with bundling at start.
const { randomBytes } = require('node:crypto');
const { startBenchChild } = require('../framework/child.js');
const { goal } = require('../framework/goal.js');
const { cleanEnvironment, connectClient, startServer } = require('../framework/media-stack.js');
const { median, medianAndSpread, round } = require('../framework/statistics.js');
const { shippedBundle } = require('../../lib/workflow-bundle.js');

const title = "time to a worker's first poll, with the shipped bundle and with bundling at start";

async function run(context) {
  const { scope, say, quick } = context;
  const shipped = await shippedBundle();
  if ('because' in shipped) throw new Error(`The package has no bundle to measure: ${shipped.because}.`);
  const rounds = quick ? 1 : 7;
  const folder = await scope.folder();
  const server = await startServer(context, folder);
  const { serverVersion } = await connectClient(scope, server);
  const env = {
    ...cleanEnvironment(),
    TEMPORAL_ADDRESS: server.address,
    TEMPORAL_NAMESPACE: server.namespace,
    MEDIA_BASE_URL: 'http://127.0.0.1:9',
    MEDIA_API_KEY: 'bench-key',
    MEDIA_DATA_DIR: folder,
  };
  const measured = { shipped: [], bundling: [] };
  for (let turn = 0; turn < rounds; turn += 1) {
    for (const bundle of turn % 2 === 0 ? ['shipped', 'bundling'] : ['bundling', 'shipped']) {
      // A new process each time: a bundle that was made is kept in memory.
      const child = await startBenchChild(scope, 'worker-start', env);
      const taskQueue = `bench-${randomBytes(4).toString('hex')}`;
      measured[bundle].push(await child.ask({ bundle, taskQueue }));
      await child.stop();
    }
    say(`round ${turn + 1} of ${rounds}`);
  }
  return { server: serverVersion, ...figures(measured, rounds) };
}

function figures(measured, rounds) {
  const of = (bundle, key) => measured[bundle].map((one) => one[key]);
  const row = (name, bundle) => [
    name,
    medianAndSpread(of(bundle, 'pollingMs'), 0),
    medianAndSpread(of(bundle, 'madeMs'), 0),
  ];
  return {
    values: measured,
    table: {
      columns: ['worker', 'until the first poll, ms', '… until it is created, ms'],
      rows: [row('with the shipped bundle', 'shipped'), row('bundling at start', 'bundling')],
    },
    goals: [
      goal(
        'first poll with the shipped bundle',
        round(median(of('shipped', 'pollingMs')) / 1000, 2),
        '<=',
        1,
        's',
      ),
    ],
    notes: [
      `${rounds} rounds in turns, each with a new process and a new task queue.`,
      'Measured from the call of createMediaWorker on an open connection, including the journal binding, until the server lists the pollers.',
    ],
  };
}

module.exports = { title, run };
