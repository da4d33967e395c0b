'use strict';
/** A media worker that a test kills with SIGKILL; a server that was killed may take it along, and the test starts the next one. */
const { runWorkerProcess } = require('../../support/worker-main.js');

/** No exchange of this suite lasts so long, and a killed process sends nothing more. */
const WINDOW_MS = 12_000;

/** Whoever waits for a sender to be certainly done waits for seconds instead of the minutes that an image may take. */
function hasty(journal) {
  return {
    ...journal,
    append: (key, n, entry) => {
      const sendWindowEnd = new Date(Date.now() + WINDOW_MS).toISOString();
      return journal.append(key, n, entry.kind === 'intent' ? { ...entry, sendWindowEnd } : entry);
    },
  };
}

runWorkerProcess(hasty, { core: 'OFF' });
