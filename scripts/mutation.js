'use strict';
// `npm run mutation [-- GROUP …] [--changed REVISION]`: Stryker changes the lines that decide about money and foreign
// bytes (scripts/mutation-groups.json), one at a time, and expects a test to fail. Results for unchanged lines are kept
// from the last run. Exits with 1 if fewer than 95 % of the mutants are noticed. `--changed` limits the run to files
// that differ from the revision.
const { spawnSync } = require('node:child_process');
const { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const GROUPS = require('./mutation-groups.json');

const ROOT = path.resolve(__dirname, '..');
const CACHE = path.join(ROOT, 'node_modules', '.cache', 'temporal-media', 'mutation');
/** Percent of mutants that a test must notice, over all groups of a run. */
const GOAL = 95;

/** Returns a group's files with patterns resolved, relative to the repository, with slashes. */
function filesOf({ mutate }) {
  return mutate.flatMap((pattern) => {
    if (!pattern.endsWith('/*.ts')) return [pattern];
    const folder = pattern.slice(0, -'/*.ts'.length);
    return readdirSync(path.join(ROOT, folder))
      .filter((name) => name.endsWith('.ts') && name !== 'index.ts')
      .map((name) => `${folder}/${name}`);
  });
}

function strykerConfig(group, files) {
  const jest = require('../jest.config.js');
  const fromHere = (file) => path.join(CACHE, file);
  return {
    mutate: files,
    testRunner: 'jest',
    plugins: ['@stryker-mutator/jest-runner'],
    jest: {
      projectType: 'custom',
      config: {
        testEnvironment: 'node',
        roots: jest.roots,
        transform: jest.transform,
        transformIgnorePatterns: jest.transformIgnorePatterns,
        moduleNameMapper: jest.moduleNameMapper,
        testMatch: GROUPS[group].tests.map((place) =>
          place.endsWith('/') ? `<rootDir>/${place}**/*.test.ts` : `<rootDir>/${place}`,
        ),
        testTimeout: 5_000,
      },
    },
    coverageAnalysis: 'perTest',
    concurrency: Math.min(4, os.availableParallelism()),
    incremental: true,
    incrementalFile: fromHere(`${group}.incremental.json`),
    // Outside the repository: jest would find the copies of the tests.
    tempDirName: path.join(os.tmpdir(), `temporal-media-mutation-${process.pid}`),
    ignorePatterns: ['lib', 'packages/*/lib', 'out', 'coverage', '.data', 'test/golden'],
    reporters: ['json', 'dots'],
    jsonReporter: { fileName: fromHere(`${group}.report.json`) },
    timeoutMS: 10_000,
    disableTypeChecks: false,
    allowEmpty: true,
    allowConsoleColors: false,
    checkers: [],
  };
}

/** Runs one group. Returns its report's mutants with their files and locations. */
function run(group, files) {
  mkdirSync(CACHE, { recursive: true });
  const config = path.join(CACHE, `${group}.config.json`);
  const report = path.join(CACHE, `${group}.report.json`);
  rmSync(report, { force: true });
  writeFileSync(config, JSON.stringify(strykerConfig(group, files), null, 2));
  const stryker = path.join(
    path.dirname(require.resolve('@stryker-mutator/core/package.json')),
    'bin',
    'stryker.js',
  );
  const { status } = spawnSync(process.execPath, [stryker, 'run', config], {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
    // The same values in every run, because a mutant found only by luck is not found. No more runs in `verify:deep`: a
    // hundred thousand runs of a property per mutant find nothing more.
    env: { ...process.env, TEST_NO_SERVER: '1', TEST_NO_BUILD: '1', FC_SEED: '1', PROOF_SIZE: 'change' },
  });
  if (!existsSync(report)) throw new Error(`Stryker ended with ${status} and no report for ${group}.`);
  const parsed = JSON.parse(readFileSync(report, 'utf8'));
  return Object.entries(parsed.files).flatMap(([file, { mutants, source }]) =>
    mutants.map((mutant) => ({ file, source, ...mutant })),
  );
}

/** Files that differ from a revision, committed or not. */
function changedSince(revision) {
  const { status, stdout, stderr } = spawnSync('git', ['diff', '--name-only', revision, '--'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`git cannot list changes since ${revision}: ${stderr.trim()}`);
  return new Set(stdout.split('\n'));
}

const NOTICED = new Set(['Killed', 'Timeout', 'RuntimeError', 'CompileError']);
const MISSED = new Set(['Survived', 'NoCoverage']);
/** Also noticed, although on a busy machine the test may only have been slow. */
const SLOW = new Set(['Timeout']);

const count = (mutants, statuses) => mutants.filter(({ status }) => statuses.has(status)).length;

function describe({ file, source, location, mutatorName, replacement, status }) {
  const { start, end } = location;
  const lines = source.split('\n').slice(start.line - 1, end.line);
  const was = lines.length === 1 ? lines[0].slice(start.column - 1, end.column - 1) : `${lines[0].trim()} …`;
  const become = (replacement ?? '').replaceAll(/\s+/g, ' ').slice(0, 80);
  return `${file}:${start.line}:${start.column} ${status} ${mutatorName}: ${was.trim().slice(0, 80)} → ${become}`;
}

/** Prints one line per group, then the mutants that no test noticed. */
function report(group, mutants) {
  const [noticed, missed] = [count(mutants, NOTICED), count(mutants, MISSED)];
  console.log(
    `${group}: ${noticed} of ${noticed + missed} mutants noticed (${percent(noticed, missed)} %), ` +
      `${count(mutants, SLOW)} by running out of time`,
  );
  for (const mutant of mutants) if (MISSED.has(mutant.status)) console.log(`  ${describe(mutant)}`);
}

const percent = (noticed, missed) =>
  noticed + missed === 0 ? 100 : Math.floor((1000 * noticed) / (noticed + missed)) / 10;

/** Writes the file that docs/guarantees.md is generated from. Only a full run writes it. */
function writeProof(mutants, groups) {
  const [noticed, missed] = [count(mutants, NOTICED), count(mutants, MISSED)];
  const counts = {
    'parts of the source': groups.length,
    files: new Set(mutants.map(({ file }) => file)).size,
    mutants: noticed + missed,
    noticed: noticed,
    'not noticed': missed,
    'noticed by running out of time': count(mutants, SLOW),
    'percent detected': percent(noticed, missed),
    'set aside as equivalent': mutants.filter(({ status }) => status === 'Ignored').length,
  };
  const folder = path.resolve(process.env['PROOF_OUT'] ?? path.join(CACHE, '..', 'proof'), 'deep');
  mkdirSync(folder, { recursive: true });
  const record = { v: 1, suite: 'mutation', size: 'deep', counts };
  writeFileSync(path.join(folder, 'mutation.json'), `${JSON.stringify(record, null, 2)}\n`);
  console.log(
    `proof mutation (deep): ${Object.entries(counts)
      .map(([what, n]) => `${n} ${what}`)
      .join(', ')}`,
  );
}

function main(args) {
  const at = args.indexOf('--changed');
  const changed = at < 0 ? undefined : changedSince(args[at + 1] ?? 'HEAD');
  const named = at < 0 ? args : args.toSpliced(at, 2);
  const unknown = named.filter((name) => !(name in GROUPS));
  if (unknown.length > 0)
    throw new Error(`${unknown.join(', ')}: no such group. Allowed: ${Object.keys(GROUPS).join(', ')}.`);
  const groups = named.length > 0 ? named : Object.keys(GROUPS);
  const all = [];
  for (const group of groups) {
    const files = filesOf(GROUPS[group]).filter((file) => changed === undefined || changed.has(file));
    if (files.length === 0) continue;
    const mutants = run(group, files);
    report(group, mutants);
    all.push(...mutants);
  }
  const [noticed, missed] = [count(all, NOTICED), count(all, MISSED)];
  console.log(
    `${noticed} of ${noticed + missed} mutants noticed: ${percent(noticed, missed)} %, required ${GOAL} %`,
  );
  if (changed === undefined && named.length === 0) writeProof(all, groups);
  return percent(noticed, missed) >= GOAL ? 0 : 1;
}

if (require.main === module) process.exitCode = main(process.argv.slice(2));

module.exports = { GOAL, GROUPS, filesOf };
