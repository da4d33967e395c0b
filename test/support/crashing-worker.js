'use strict';
/**
 * A media worker in a process of its own that a test kills, or that kills itself with SIGKILL at one point of the
 * create journal (CRASH_AT: before_slot, after_slot, after_outcome). Says `ready` once it runs.
 */
const { DefaultLogger, makeTelemetryFilterString, Runtime } = require('@temporalio/worker');
const { createFileJournal } = require('../../lib/journal');
const { createMediaWorker, readConfig } = require('../../lib/worker');

Runtime.install({
  logger: new DefaultLogger('ERROR'),
  telemetryOptions: {
    logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' }) },
  },
});

/** Nothing after this runs: no finally, no shutdown, no report to the server. */
async function die() {
  process.kill(process.pid, 'SIGKILL');
  await new Promise(() => undefined);
}

function crashing(journal, at) {
  return {
    ...journal,
    async putSlot(...args) {
      if (at === 'before_slot') await die();
      const taken = await journal.putSlot(...args);
      if (at === 'after_slot') await die();
      return taken;
    },
    async putOutcome(...args) {
      const taken = await journal.putOutcome(...args);
      if (at === 'after_outcome') await die();
      return taken;
    },
  };
}

async function main() {
  const config = readConfig();
  const journal = createFileJournal({ root: config.journal });
  const media = await createMediaWorker({
    config,
    journal: crashing(journal, process.env['CRASH_AT']),
    workflows: { workflowBundle: { codePath: process.env['WORKFLOW_BUNDLE'] } },
  });
  const running = media.run();
  process.stdout.write('ready\n');
  await running;
}

main().catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});
