'use strict';
/**
 * A media worker that a test kills, or that kills itself with SIGKILL once an outcome is recorded
 * (CRASH_AT=after_outcome). With ELSEWHERE=1 its sends name a process of another machine.
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
    async append(key, n, entry) {
      const isElsewhere = process.env['ELSEWHERE'] === '1' && entry.process !== undefined;
      const sent = isElsewhere ? { ...entry, process: { ...entry.process, space: 'elsewhere' } } : entry;
      const end = await journal.append(key, n, sent);
      if (at === 'after_outcome' && entry.kind === 'answer') await die();
      return end;
    },
  };
}

runWorkerProcess((journal) => crashing(journal, process.env['CRASH_AT']));
