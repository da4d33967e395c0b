'use strict';
// A media worker with workflows of its own beside those of the package, as users write it.
const { DefaultLogger, makeTelemetryFilterString, Runtime } = require('@temporalio/worker');
const { createMediaWorker } = require('../../lib/worker.js');

async function main() {
  // A full machine makes calls late, and the worker says so each time: the table shows it.
  const filter = makeTelemetryFilterString({ core: 'OFF', other: 'OFF' });
  Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging: { filter } } });
  const media = await createMediaWorker({
    workflows: { workflowsPath: require.resolve('./growth-workflows.js') },
  });
  process.once('SIGTERM', () => media.shutdown());
  process.once('disconnect', () => process.exit(0));
  process.send({ account: media.account });
  await media.run();
  process.exit(0);
}

main().catch((error) => {
  process.send({ error: error.message });
});
