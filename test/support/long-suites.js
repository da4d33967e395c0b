'use strict';
// The suites that `npm test` leaves to `npm run verify:long`. With every change each rule of the contract and each
// outcome is proved once, on the real server. These prove what happens when processes are killed, journals are lost,
// connections are cut and campaigns run their whole life, or that a command in a process of its own does what a test
// of its parts has shown. `npx jest FILE` runs each of them.

/** Beginnings of paths. */
const LONG = [
  // The proofs: kills, faults, schedules of them, properties of values at random.
  'test/proof/',
  // Campaigns for their whole life; test/e2e/campaign.test.ts stays.
  'test/cli/money-month',
  'test/cli/campaign-',
  'test/e2e/campaign-',
  // What persons do to executions, journals and workers.
  'test/e2e/accounts',
  'test/e2e/cancelled-reset',
  'test/e2e/closings',
  'test/e2e/differing-workers',
  'test/e2e/journal-',
  'test/e2e/operator-commands',
  'test/e2e/prune-ancestors',
  'test/e2e/query-after-crash',
  'test/e2e/refused-account',
  'test/e2e/refused-rows',
  'test/e2e/review-',
  'test/e2e/slow-binding',
  'test/e2e/standalone-activities',
  'test/e2e/standalone-batches',
  'test/e2e/ui-actions',
  'test/e2e/unknown-keys',
  'test/e2e/worker-queues',
  // Second looks at what other tests of test/e2e show, and waits of many seconds.
  'test/e2e/caller-queues',
  'test/e2e/clock-steps',
  'test/e2e/corrected-request',
  'test/e2e/download-interrupted',
  'test/e2e/early-unknown',
  'test/e2e/hostile-page',
  'test/e2e/idempotency-key',
  'test/e2e/images-fetched-after-all',
  'test/e2e/images-worker-killed',
  'test/e2e/multipart-create',
  'test/e2e/odd-',
  'test/e2e/payload-codec',
  'test/e2e/planted-mistakes',
  'test/e2e/redacted-export',
  'test/e2e/request-seconds',
  'test/e2e/slow-polls',
  'test/e2e/started-by',
  'test/e2e/summaries',
  'test/e2e/uncached',
  'test/e2e/waits-of-one-task',
  // Much of the same: large inputs, every wire shape, every order, whole reports, all types, changes of the code performed.
  'test/stores/artifacts/decodable-files',
  'test/stores/artifacts/mp4-memory',
  'test/budgets/payload-bytes',
  'test/budgets/user-workflows',
  'test/compat/',
  'test/docs/contributing',
  'test/domain/campaign/row-queue',
  'test/manifest/keys',
  'test/manifest/large',
  'test/package/type-exports',
  'test/replay/redact-history',
  'test/replay/replay-pool',
  'test/report/refresh-order',
  'test/report/report-process',
  'test/report/zip-report',
  'test/testing/mock-media/mock-activities',
  'test/testing/sandbox/openapi',
  'test/testing/temporal-server/start-temporal-server',
  'test/workflows/poll-loop',
  // Estates around the package.
  'test/e2e/metrics',
  'test/e2e/traces',
  'test/examples/',
  'test/worker/',
  'test/worker/',
  'test/proxy/',
  // Kills, slow receivers and many notices; test/notices/events.test.ts stays.
  'test/notices/delivery',
  'test/notices/accounts',
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
  'test/cli/hostile-ids',
  'test/e2e/incidents/',
  'test/cli/search-attributes',
  'test/cli/shared-store',
  'test/cli/spend/spend-commands',
  'test/cli/status-restored',
  'test/cli/unconfirmed-command',
  'test/cli/unserved-queues',
  'test/cli/wait-for',
  'test/cli/worker-command',
];

/** @param {string} file Relative to the repository, with slashes. */
function isLong(file) {
  return LONG.some((place) => file.startsWith(place));
}

module.exports = { LONG, isLong };
