'use strict';
/**
 * A media worker in a process of its own that a test kills with SIGKILL. Says `ready` once it runs, and ends with the
 * process that started it.
 */
const { DefaultLogger, makeTelemetryFilterString, Runtime } = require('@temporalio/worker');
const { createFileJournal } = require('../../../lib/journal');
const { createMediaWorker, readConfig } = require('../../../lib/worker');

/** No exchange of this suite lasts so long, and a killed process sends nothing more. */
const WINDOW_MS = 12_000;

Runtime.install({
  logger: new DefaultLogger('ERROR'),
  telemetryOptions: {
    logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'OFF', other: 'OFF' }) },
  },
});

/** Whoever waits for a sender to be certainly done waits for seconds instead of the minutes that an image may take. */
function hasty(journal) {
  return {
    ...journal,
    putSlot: (key, epoch, slot) => {
      const end = new Date(Date.now() + WINDOW_MS).toISOString();
      return journal.putSlot(key, epoch, slot.kind === 'intent' ? { ...slot, sendWindowEnd: end } : slot);
    },
  };
}

async function main() {
  process.stdin.once('end', () => process.exit()).resume();
  process.stdin.unref();
  const config = readConfig();
  const media = await createMediaWorker({
    config,
    journal: hasty(createFileJournal({ root: config.journal })),
    workflows: { workflowBundle: { codePath: process.env['WORKFLOW_BUNDLE'] } },
  });
  const running = media.run();
  process.stdout.write('ready\n');
  await running;
}

main().catch((error) => {
  // A server that was killed may take its workers with it: the test starts the next one.
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
