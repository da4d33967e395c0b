'use strict';
// The suites that `npm test` leaves to `npm run verify:long`. With every change each rule of the contract and each
// outcome is proved once, on the real server. These prove what happens when processes are killed, journals are lost,
// connections are cut and campaigns run their whole life, or that a command in a process of its own does what a test
// of its parts has shown. `npx jest FILE` runs each of them.

/** Beginnings of paths. */
const LONG = [
  // Kills, faults and schedules of them.
  'test/proof/campaign-',
  'test/proof/create-model',
  'test/proof/kill-',
  'test/proof/malicious-server',
  'test/proof/memory',
  'test/proof/rolling-upgrade',
  'test/proof/secrecy',
  'test/proof/shared-polling',
  'test/proof/simulation',
  'test/proof/storage-faults',
  'test/proof/temporal-faults',
  'test/proof/wire-faults',
  // Campaigns for their whole life; test/e2e/campaign.test.ts stays.
  'test/cli/campaign-',
  'test/e2e/campaign-again',
  'test/e2e/campaign-at-once',
  'test/e2e/campaign-batches',
  'test/e2e/campaign-forgotten',
  'test/e2e/campaign-leaving',
  'test/e2e/campaign-lost',
  'test/e2e/campaign-orphans',
  'test/e2e/campaign-runs',
  'test/e2e/campaign-successors',
  'test/e2e/campaign-waiting',
  // What persons do to executions, journals and workers.
  'test/e2e/accounts',
  'test/e2e/cancelled-reset',
  'test/e2e/closings',
  'test/e2e/differing-workers',
  'test/e2e/journal-',
  'test/e2e/operator-commands',
  'test/e2e/refused-account',
  'test/e2e/review-',
  'test/e2e/slow-binding',
  'test/e2e/ui-actions',
  'test/e2e/unknown-keys',
  'test/e2e/worker-queues',
  // Waits of many seconds.
  'test/e2e/download-interrupted',
  'test/e2e/images-fetched-after-all',
  'test/e2e/images-worker-killed',
  'test/e2e/request-seconds',
  // Estates around the package.
  'test/e2e/metrics',
  'test/e2e/traces',
  'test/examples/',
  'test/nexus/',
  'test/plugin/',
  // Commands in processes of their own.
  'test/cli/accounts-commands',
  'test/cli/artifacts-prune',
  'test/cli/codec-server',
  'test/cli/demo-command',
  'test/cli/dev-command',
  'test/cli/dev-under-npm',
  'test/cli/doctor-',
  'test/cli/every-command',
  'test/cli/first-ten-minutes',
  'test/cli/on-call',
  'test/cli/search-attributes',
  'test/cli/shared-store',
  'test/cli/status-restored',
  'test/cli/unserved-queues',
  'test/cli/wait-for',
  'test/cli/worker-command',
];

/** @param {string} file Relative to the repository, with slashes. */
function isLong(file) {
  return LONG.some((place) => file.startsWith(place));
}

module.exports = { LONG, isLong };
