'use strict';
/**
 * The main function of a media worker in a process of its own that a test kills or stops. Says `ready` once it runs, and
 * ends with the process that started it. What is worth a look is put around its journal.
 */
const { DefaultLogger, makeTelemetryFilterString, Runtime } = require('@temporalio/worker');
const { given } = require('../../lib/domain/json.js');
const { createJournal } = require('../../lib/stores/journal/create-journal.js');
const { openArtifactStore, openRecords } = require('../../lib/stores/open-stores.js');
const { createMediaWorker, readConfig } = require('../../lib/worker');
const { dataConverterOf } = require('../../packages/cli/lib/shared/data-converter.js');

/**
 * @param around the journal as the worker is to see it
 * @param below what to put around its records and its artifacts
 * @param core level of the SDK's core; servers that are killed make it loud */
function runWorkerProcess(around, { core = 'ERROR', ...below } = {}) {
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: {
      logging: { forward: {}, filter: makeTelemetryFilterString({ core, other: core }) },
    },
  });
  main(around, below).catch((error) => {
    process.stderr.write(`${error.stack}\n`);
    process.exit(1);
  });
}

async function main(around, { records = (it) => it, artifacts = (it) => it }) {
  process.stdin.once('end', () => process.exit()).resume();
  process.stdin.unref();
  const config = readConfig();
  const media = await createMediaWorker({
    config,
    journal: around(createJournal(records(await openRecords(config)))),
    artifacts: artifacts(await openArtifactStore(config)),
    workflows: { workflowBundle: { codePath: process.env['WORKFLOW_BUNDLE'] } },
    worker: given({ dataConverter: await dataConverterOf(process.env, process.env['TEMPORAL_NAMESPACE']) }),
  });
  const running = media.run();
  process.stdout.write('ready\n');
  await running;
}

module.exports = { runWorkerProcess };
