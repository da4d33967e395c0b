'use strict';
// `npm run verify:temporal-postgres`: runs the end-to-end tests on a real Temporal server with PostgreSQL persistence,
// then a campaign and single videos while that server and its database are killed. Needs PostgreSQL (Debian's package
// `postgresql`), and temporal-server and temporal-sql-tool on PATH, or a Go toolchain to build them once. Takes 15
// minutes on two cores. Exits with 1 if a test fails or the run does not reach what proof/promises.json requires.
const { spawn, spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { ROOT, WRITTEN, readPromises, readResults, shortcomings, suiteProofs } = require('./proof-results');

const SUITE = 'temporal-postgres';
const E2E = 'test/e2e';

/** This test starts its own server, which suggests continue-as-new earlier. */
const NOT_ON_IT = ['continue-as-new.test.ts'];

function endToEndTests() {
  const names = fs.readdirSync(path.join(ROOT, E2E)).filter((name) => name.endsWith('.test.ts'));
  return names.filter((name) => !NOT_ON_IT.includes(name)).map((name) => `${E2E}/${name}`);
}

/**
 * Fewer concurrent files than in jest.config.js: this server uses twice the CPU, and tests have limits of a few
 * seconds.
 */
const FILES_AT_ONCE = 4;

/** @returns the exit code; a signal counts as a failure */
function jest(files, env, config = 'jest.config.js') {
  const args = [`--config=${config}`, `--maxWorkers=${FILES_AT_ONCE}`, '--runTestsByPath', ...files];
  const child = spawn(process.execPath, [require.resolve('jest/bin/jest'), ...args], {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, TEST_NO_BUILD: '1', ...env },
  });
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
}

async function endToEnd() {
  // Required here, because it needs the build.
  const { startTemporalOnPostgres } = require('./stores/temporal-postgres.js');
  const server = await startTemporalOnPostgres({ say: (line) => console.log(line) });
  try {
    const files = endToEndTests();
    const env = { TEMPORAL_ADDRESS: server.address, TEMPORAL_NAMESPACE: server.namespace };
    const problems = (await jest(files, env)) === 0 ? [] : ['end-to-end tests failed'];
    return { problems, reached: `${files.length} files` };
  } finally {
    await server.stop();
  }
}

async function killed(out) {
  const written = path.join(out, 'deep', `${SUITE}.json`);
  fs.rmSync(written, { force: true });
  // It starts its own server.
  const env = { PROOF_SIZE: 'deep', PROOF_OUT: out, TEST_NO_SERVER: '1' };
  const code = await jest([`test/store-servers/${SUITE}.test.ts`], env, 'jest.stores.config.js');
  const counts = readResults(out, 'deep').get(SUITE);
  const proofs = suiteProofs(readPromises()).filter(({ suite }) => suite === SUITE);
  const lacks = proofs.flatMap((proof) => shortcomings(proof, counts, 'deep'));
  const problems = [...(code === 0 ? [] : ['the kill run failed']), ...lacks];
  const told = Object.entries(counts ?? {}).map(([what, count]) => `${count} ${what}`);
  return { problems, reached: told.join(', ') };
}

async function main() {
  const { status } = spawnSync(process.execPath, [path.join(__dirname, 'build.js')], { stdio: 'inherit' });
  if (status !== 0) return 1;
  const verdicts = {
    'end-to-end tests': await endToEnd(),
    'killed with its database': await killed(path.resolve(process.env['PROOF_OUT'] ?? WRITTEN)),
  };
  console.log('\nnpm run verify:temporal-postgres');
  for (const [name, { problems, reached }] of Object.entries(verdicts)) {
    console.log(`${name}: ${problems.length === 0 ? 'proved' : 'NOT PROVED'}: ${reached}`);
    for (const problem of new Set(problems)) console.log(`- ${problem}`);
  }
  return Object.values(verdicts).every(({ problems }) => problems.length === 0) ? 0 : 1;
}

main().then(
  (code) => process.exit(code),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
