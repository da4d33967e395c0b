'use strict';
/**
 * A media worker that a test kills, or that kills itself with SIGKILL once an outcome is recorded
 * (CRASH_AT=after_outcome).
 */
const { runWorkerProcess } = require('./worker-main.js');

/** Nothing after this runs: no finally, no shutdown, no report to the server. */
async function die() {
  process.kill(process.pid, 'SIGKILL');
  await new Promise(() => undefined);
}

function crashing(journal, at) {
  return {
    ...journal,
    async append(...args) {
      const end = await journal.append(...args);
      if (at === 'after_outcome' && args[2].kind === 'answer') await die();
      return end;
    },
  };
}

runWorkerProcess((journal) => crashing(journal, process.env['CRASH_AT']));
