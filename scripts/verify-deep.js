'use strict';
// `npm run verify:deep [-- NAME … | --list]`: runs the test/proof suites at their large size, one after another, then
// the mutation tests. Each has a time limit; together, the limits are four hours. Exits with 1 if a suite fails,
// exceeds its limit or does not reach what proof/promises.json requires.
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { clearTimeout, setTimeout } = require('node:timers');
const { ROOT, WRITTEN, readPromises, readResults, shortcomings, suiteProofs } = require('./proof-results');

/** Time limit of each suite on two cores, in minutes. */
const LIMITS = {
  'paid-log': 14,
  'create-model': 20,
  simulation: 24,
  'wire-faults': 5,
  'temporal-faults': 4,
  'kill-points': 4,
  'kill-random': 33,
  'campaign-kills': 16,
  'campaign-money': 3,
  'campaign-resets': 23,
  'rolling-upgrade': 4,
  'shared-polling': 7,
  properties: 9,
  fuzz: 20,
  'malicious-server': 3,
  ssrf: 2,
  truncation: 3,
  'good-files': 1,
  'storage-faults': 2,
  'storage-faults-journal': 2,
  bounds: 2,
  memory: 4,
  secrecy: 3,
  'journal-cost': 2,
  mutation: 30,
};

/** Limit for a suite that is not in the table yet. */
const OTHER_LIMIT = 5;

/** Suites of several files, which run concurrently and add up their counts. */
const IN_PARTS = ['fuzz', 'properties'];

function suiteOf(file) {
  return IN_PARTS.find((suite) => file.startsWith(`${suite}-`)) ?? file;
}

/** Returns the existing suites in table order, mutation last. */
function suites() {
  const found = fs
    .readdirSync(path.join(ROOT, 'test', 'proof'))
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => suiteOf(name.replace('.test.ts', '')));
  const known = Object.keys(LIMITS).filter((name) => name === 'mutation' || found.includes(name));
  const others = [...new Set(found)].filter((name) => !(name in LIMITS)).sort();
  return [...others, ...known].map((name) => ({
    name,
    minutes: LIMITS[name] ?? OTHER_LIMIT,
  }));
}

function commandOf(name) {
  if (name === 'mutation') return [path.join(__dirname, 'mutation.js')];
  const jest = require.resolve('jest/bin/jest');
  if (IN_PARTS.includes(name)) return [jest, `test/proof/${name}-`];
  return [jest, '--runTestsByPath', `test/proof/${name}.test.ts`];
}

/** Runs one suite in its own process group, so that its time limit can end the whole group. */
function run({ name, minutes }, out) {
  return new Promise((resolve) => {
    const started = Date.now();
    const child = spawn(process.execPath, commandOf(name), {
      cwd: ROOT,
      stdio: ['ignore', 'inherit', 'inherit'],
      detached: true,
      env: { ...process.env, PROOF_SIZE: 'deep', PROOF_OUT: out },
    });
    let cut = false;
    let hard;
    const end = (signal) => {
      try {
        process.kill(-child.pid, signal);
      } catch {
        // The whole group has already ended.
      }
    };
    const interrupted = () => {
      end('SIGKILL');
      process.exit(130);
    };
    process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
    const limit = setTimeout(() => {
      cut = true;
      end('SIGTERM');
      hard = setTimeout(() => end('SIGKILL'), 15_000);
    }, minutes * 60_000);
    child.once('exit', (code) => {
      clearTimeout(limit);
      clearTimeout(hard);
      // A suite that exceeded its limit may leave servers and workers behind.
      if (cut) end('SIGKILL');
      process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
      resolve({ cut, code, seconds: Math.round((Date.now() - started) / 1000) });
    });
  });
}

/** Where the tests' stores are (TEST_STORES), which determines the folder that test/support/proof.ts writes to. */
const STORES = process.env['TEST_STORES'] ?? 'files';
const SIZE = STORES === 'files' ? 'deep' : `deep-${STORES}`;
/** These suites remove a journal's files or replace them with older ones. */
const OF_FILES = ['kill-points/journals'];

/** Removes an earlier run's results, so that only this run counts. */
function forget(name, out) {
  const folder = path.join(out, SIZE);
  if (!fs.existsSync(folder)) return;
  for (const file of fs.readdirSync(folder))
    if (file === name || file.startsWith(`${name}.`)) fs.rmSync(path.join(folder, file), { recursive: true });
}

function lacksOf(name, out) {
  const results = readResults(out, SIZE);
  const proofs = suiteProofs(readPromises())
    .filter(({ suite }) => suite === name || suite.startsWith(`${name}/`))
    .filter(({ suite }) => STORES === 'files' || !OF_FILES.includes(suite));
  return proofs.flatMap((proof) => shortcomings(proof, results.get(proof.suite), 'deep'));
}

function reached(name, out) {
  const own = [...readResults(out, SIZE)].filter(([suite]) => suite === name || suite.startsWith(`${name}/`));
  return own
    .flatMap(([, counts]) => Object.entries(counts))
    .map(([what, count]) => `${count.toLocaleString('en-US')} ${what}`);
}

async function main(args) {
  const all = suites();
  if (args.includes('--list')) {
    for (const { name, minutes } of all) console.log(`${name.padEnd(24)}at most ${minutes} minutes`);
    console.log(
      `${'all of them'.padEnd(24)}at most ${all.reduce((sum, { minutes }) => sum + minutes, 0)} minutes`,
    );
    return 0;
  }
  const unknown = args.filter((name) => !all.some((suite) => suite.name === name));
  if (unknown.length > 0) {
    console.error(
      `${unknown.join(', ')}: no such suite. Allowed: ${all.map(({ name }) => name).join(', ')}.`,
    );
    return 2;
  }
  const out = path.resolve(process.env['PROOF_OUT'] ?? WRITTEN);
  const started = Date.now();
  const verdicts = [];
  for (const suite of args.length === 0 ? all : all.filter(({ name }) => args.includes(name))) {
    console.log(`\n== ${suite.name}: at most ${suite.minutes} minutes`);
    forget(suite.name, out);
    const { cut, code, seconds } = await run(suite, out);
    const problems = [
      ...(cut ? [`stopped after ${suite.minutes} minutes`] : []),
      ...(!cut && code !== 0 ? [`failed with exit code ${code}`] : []),
      ...lacksOf(suite.name, out),
    ];
    verdicts.push({ name: suite.name, seconds, problems, reached: reached(suite.name, out) });
  }
  console.log(`\nnpm run verify:deep took ${Math.round((Date.now() - started) / 60_000)} minutes`);
  for (const { name, seconds, problems, reached: counts } of verdicts) {
    const verdict = problems.length === 0 ? 'proved' : 'NOT PROVED';
    console.log(
      `${name.padEnd(24)}${verdict.padEnd(12)}${String(seconds).padStart(6)} s  ${counts.join(', ')}`,
    );
    for (const problem of new Set(problems)) console.log(`${' '.repeat(24)}- ${problem}`);
  }
  return verdicts.every(({ problems }) => problems.length === 0) ? 0 : 1;
}

if (require.main === module) {
  main(process.argv.slice(2)).then(
    (code) => {
      process.exitCode = code;
    },
    (error) => {
      console.error(error);
      process.exitCode = 1;
    },
  );
}

module.exports = { LIMITS, suiteOf, suites };
