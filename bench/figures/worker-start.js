'use strict';
// From `new worker` to its first poll: with the bundle that the package brings, against bundling at start.
const { randomBytes } = require('node:crypto');
const { startBenchChild } = require('../framework/child.js');
const { goal } = require('../framework/goal.js');
const { cleanEnvironment, connectClient, startServer } = require('../framework/media-stack.js');
const { median, medianAndSpread, round } = require('../framework/statistics.js');
const { shippedBundle } = require('../../lib/workflow-bundle.js');

const title = 'time to the first poll of a worker, with the bundle of the package against bundling at start';

async function run(context) {
  const { scope, say, quick } = context;
  const shipped = await shippedBundle();
  if ('because' in shipped) throw new Error(`There is no bundle to measure: ${shipped.because}.`);
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
      columns: ['worker', 'to the first poll, ms', 'of it until it is made, ms'],
      rows: [row('with the bundle of the package', 'shipped'), row('bundling at start', 'bundling')],
    },
    goals: [
      goal(
        'first poll with the bundle of the package',
        round(median(of('shipped', 'pollingMs')) / 1000, 2),
        '<=',
        1,
        's',
      ),
    ],
    notes: [
      `${rounds} rounds, taking turns, a new process and a new task queue each.`,
      'From the call of createMediaWorker on an open connection, with the binding of the journal, to pollers that the server shows.',
    ],
  };
}

module.exports = { title, run };
