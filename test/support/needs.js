'use strict';
// What a test needs beyond the sources: the one list behind `npm run test:fast` and the global set-up.
const { readdirSync } = require('node:fs');
const path = require('node:path');

const ROOT = path.resolve(__dirname, '..', '..');

/**
 * From little to much: `time` is nothing but seconds of work, `lib` is what the build makes, `server` is a Temporal
 * server and `lib`.
 */
const NEEDS = ['nothing', 'time', 'lib', 'server'];

/** The longest path wins. What is not listed needs a server: slower, but never wrong. */
const NEED_OF = {
  'test/settings/': 'nothing',
  'test/activities/': 'nothing',
  'test/activities/poll-in-thread.test.ts': 'lib',
  'test/stores/artifacts/': 'nothing',
  'test/stores/artifacts/decodable-files.test.ts': 'time',
  'test/bench/': 'lib',
  'test/browser/campaign-gallery.test.ts': 'nothing',
  'test/browser/replay-timeline.test.ts': 'nothing',
  'test/browser/thousand-rows.test.ts': 'nothing',
  'test/budgets/events.test.ts': 'nothing',
  'test/budgets/timers.test.ts': 'nothing',
  'test/cli/aws-notice.test.ts': 'lib',
  'test/cli/campaign/': 'nothing',
  'test/cli/case.test.ts': 'nothing',
  'test/cli/dev-first-video.test.ts': 'nothing',
  'test/cli/doctor-findings.test.ts': 'nothing',
  'test/cli/error-types.test.ts': 'nothing',
  'test/cli/journal/': 'nothing',
  'test/cli/money/': 'nothing',
  'test/cli/money-check': 'lib',
  'test/cli/near-names.test.ts': 'nothing',
  'test/cli/outcome-report.test.ts': 'nothing',
  'test/cli/option-names.test.ts': 'nothing',
  'test/cli/output-format.test.ts': 'nothing',
  'test/cli/progress-view.test.ts': 'nothing',
  'test/cli/sandbox-command.test.ts': 'lib',
  'test/cli/health.test.ts': 'nothing',
  'test/cli/log-lines.test.ts': 'nothing',
  'test/cli/listen-address.test.ts': 'nothing',
  'test/cli/schemas/input-schemas.test.ts': 'lib',
  'test/cli/schemas/json-schemas.test.ts': 'lib',
  'test/cli/schemas/schema-types.test.ts': 'nothing',
  'test/cli/schemas/timeline.test.ts': 'lib',
  'test/cli/shell-word.test.ts': 'nothing',
  'test/cli/shown-location.test.ts': 'nothing',
  'test/cli/stack-environment.test.ts': 'nothing',
  'test/cli/start-up.test.ts': 'lib',
  'test/cli/stored-names.test.ts': 'nothing',
  'test/cli/status-line.test.ts': 'nothing',
  'test/cli/store-secrets.test.ts': 'nothing',
  'test/cli/status-unreadable.test.ts': 'nothing',
  'test/cli/usage.test.ts': 'lib',
  'test/client/campaign-memo.test.ts': 'nothing',
  'test/cli/find-orphans.test.ts': 'nothing',
  'test/client/start-options.test.ts': 'nothing',
  'test/client/resumed-rows.test.ts': 'nothing',
  'test/client/workflow-paused.test.ts': 'nothing',
  'test/compat/': 'time',
  'test/compat/workflows.test.ts': 'server',
  'test/contract/': 'lib',
  'test/docs/': 'nothing',
  'test/domain/': 'nothing',
  'test/examples/codec-server.test.ts': 'nothing',
  'test/examples/notices.test.ts': 'nothing',
  'test/examples/webhook.test.ts': 'nothing',
  'test/notices/endpoints.test.ts': 'nothing',
  'test/notices/facts.test.ts': 'nothing',
  'test/stores/files/': 'nothing',
  'test/installed/': 'server',
  'test/replays/': 'server',
  'test/replays/encrypted-file.test.ts': 'lib',
  'test/replays/verdict.test.ts': 'lib',
  'test/replays/debug-replayer.test.ts': 'lib',
  'test/stores/journal/': 'nothing',
  'test/manifest/': 'nothing',
  'test/manifest/large.test.ts': 'lib',
  'test/package/': 'nothing',
  'test/package/type-exports.test.ts': 'time',
  'test/package/exports.test.ts': 'lib',
  'test/worker/replay.test.ts': 'lib',
  'test/proof/bounds.test.ts': 'time',
  'test/proof/create-model.test.ts': 'time',
  'test/proof/fuzz': 'time',
  'test/proof/good-files.test.ts': 'nothing',
  'test/proof/malicious-server.test.ts': 'time',
  'test/proof/memory.test.ts': 'lib',
  'test/proof/properties': 'time',
  'test/proof/simulation.test.ts': 'time',
  'test/proof/ssrf.test.ts': 'nothing',
  'test/proof/storage-faults-journal.test.ts': 'time',
  'test/proof/storage-faults.test.ts': 'lib',
  'test/proof/truncation.test.ts': 'time',
  'test/proof/wire-faults.test.ts': 'time',
  'test/proxy/https.test.ts': 'lib',
  'test/proxy/redirects.test.ts': 'lib',
  'test/replay/': 'lib',
  'test/replay/golden-files.test.ts': 'nothing',
  'test/replay/terminal-lines.test.ts': 'nothing',
  'test/replay/timeline/': 'nothing',
  'test/replay/whatif/': 'nothing',
  'test/replay/read-history.test.ts': 'nothing',
  'test/report/': 'nothing',
  'test/report/report-process.test.ts': 'lib',
  'test/rules/': 'nothing',
  'test/s3/': 'nothing',
  'test/service/': 'nothing',
  // They start servers of their own: npm run verify:stores.
  'test/store-servers/journals.test.ts': 'lib',
  'test/store-servers/postgres-': 'lib',
  'test/store-servers/s3-': 'lib',
  'test/support/fast-check.test.ts': 'nothing',
  'test/support/inline-payloads.test.ts': 'nothing',
  'test/support/long-suites.test.ts': 'nothing',
  'test/support/needs.test.ts': 'nothing',
  'test/support/server-cost.test.ts': 'nothing',
  'test/support/wire-fixture.test.ts': 'nothing',
  'test/testing/conformance.test.ts': 'nothing',
  'test/testing/mock-media/outcomes.test.ts': 'lib',
  'test/testing/sandbox/': 'nothing',
  'test/testing/sandbox/compat-mode.test.ts': 'time',
  'test/testing/sandbox/openapi-requests.test.ts': 'time',
  'test/testing/sandbox/openapi.test.ts': 'time',
  'test/testing/sandbox/sandbox-process.test.ts': 'lib',
  // These start Temporal servers of their own, or only look for one.
  'test/testing/temporal-server/': 'nothing',
  'test/testing/temporal-server/start-temporal-server.test.ts': 'server',
  'test/worker/floating-journal.test.ts': 'nothing',
  'test/worker/readiness.test.ts': 'nothing',
  'test/worker/without-payloads.test.ts': 'nothing',
  'test/worker/worker-version.test.ts': 'nothing',
  'test/workflows/bundle.test.ts': 'lib',
  'test/workflows/sender-trace.test.ts': 'nothing',
  'test/workflows/shipped-bundle.test.ts': 'lib',
};

/** What a test file needs; `file` is relative to the repository, with slashes. */
function needOf(file) {
  const places = Object.keys(NEED_OF).filter((place) => file.startsWith(place));
  const longest = places.sort((a, b) => b.length - a.length)[0];
  return longest === undefined ? 'server' : NEED_OF[longest];
}

/** Every test file of the repository, sorted. */
function allTestFiles() {
  return readdirSync(path.join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => `test/${file.replaceAll('\\', '/')}`)
    .sort();
}

/** The most that any of the files needs whose path fits one of jest's patterns; without a pattern, that any needs. */
function needOfPatterns(patterns, files = allTestFiles()) {
  let expressions;
  try {
    expressions = patterns.map((pattern) => new RegExp(pattern.replace(/^\.\//, ''), 'i'));
  } catch {
    return 'server';
  }
  const selected = files.filter(
    (file) => patterns.length === 0 || expressions.some((one) => one.test(path.join(ROOT, file))),
  );
  return NEEDS[Math.max(0, ...selected.map((file) => NEEDS.indexOf(needOf(file))))];
}

/** What `npm run test:fast` leaves out, in lines for a reader; `args` are those of jest. */
function leftOut(args = [], files = allTestFiles()) {
  const of = (need) => files.filter((file) => needOf(file) === need);
  const [server, lib, time] = [of('server'), of('lib'), of('time')];
  const named = args.filter((arg) => !arg.startsWith('-'));
  const asked = [...server, ...lib, ...time].filter((file) =>
    named.some((arg) => file.startsWith(arg.replace(/^\.\//, ''))),
  );
  return [
    `${server.length} files need a Temporal server: ${byFolder(server)}`,
    `${lib.length} files need the build: ${byFolder(lib)}`,
    `${time.length} files need nothing but time: ${byFolder(time) || 'none'}`,
    `npm test runs them but the long suites, npm run verify:long those; npx jest FILE … brings what these files need`,
    ...(asked.length === 0 ? [] : [`of what you named: npx jest ${asked.join(' ')}`]),
  ];
}

/** `test/e2e (15), test/cli (4)`. */
function byFolder(files) {
  const counts = new Map();
  for (const file of files) {
    const folder = path.posix.dirname(file);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts].map(([folder, count]) => `${folder} (${count})`).join(', ');
}

module.exports = { NEED_OF, allTestFiles, leftOut, needOf, needOfPatterns };
