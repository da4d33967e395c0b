'use strict';
/**
 * A media worker in a process of its own that a test kills, or that kills itself with SIGKILL once an outcome is
 * recorded (CRASH_AT=after_outcome). Says `ready` once it runs, and ends with the process that started it.
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
    async putOutcome(...args) {
      const taken = await journal.putOutcome(...args);
      if (at === 'after_outcome') await die();
      return taken;
    },
  };
}

async function main() {
  process.stdin.once('end', () => process.exit()).resume();
  process.stdin.unref();
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
