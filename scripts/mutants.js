'use strict';
// `npm run mutants [-- NAME …]`: checks that each one-line source change makes the test of its rule fail. Runs in a
// copy of the tree, and runs only that rule's tests in that file. Exits with 1 if a mutant survives.
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { needOf } = require('../test/support/needs');

const root = path.resolve(__dirname, '..');
const COPIED = [
  'src',
  'packages',
  'test',
  'scripts',
  'docs',
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'jest.config.js',
];

function copyTree() {
  const copy = fs.mkdtempSync(path.join(os.tmpdir(), 'temporal-media-mutants-'));
  for (const name of COPIED) fs.cpSync(path.join(root, name), path.join(copy, name), { recursive: true });
  // Packages are shared. The cache, which contains this tree's builds and proofs, is not.
  fs.mkdirSync(path.join(copy, 'node_modules'));
  for (const name of fs.readdirSync(path.join(root, 'node_modules'))) {
    if (['.cache', 'temporal-media', '@temporal-media'].includes(name)) continue;
    fs.symlinkSync(path.join(root, 'node_modules', name), path.join(copy, 'node_modules', name));
  }
  // The copy's own packages, linked as npm does.
  fs.symlinkSync('..', path.join(copy, 'node_modules', 'temporal-media'));
  fs.mkdirSync(path.join(copy, 'node_modules', '@temporal-media'));
  for (const name of fs.readdirSync(path.join(copy, 'packages')))
    fs.symlinkSync(`../../packages/${name}`, path.join(copy, 'node_modules', '@temporal-media', name));
  return copy;
}

function build(copy) {
  const { status } = spawnSync(process.execPath, [path.join(copy, 'scripts', 'build.js')], { cwd: copy });
  if (status !== 0) throw new Error('lib could not be built');
}

/** Marks `lib` as up to date, so that only a mutant with `build` needs a compilation. */
function stamp(copy) {
  const cache = path.join(copy, 'node_modules', '.cache', 'temporal-media');
  fs.mkdirSync(cache, { recursive: true });
  fs.writeFileSync(path.join(cache, 'lib-built'), '');
}

/** Returns jest's results for one rule's tests in one file. */
function runTests(copy, { test, rule }, server) {
  const output = path.join(copy, 'out.json');
  fs.rmSync(output, { force: true });
  const jest = path.join(copy, 'node_modules', 'jest', 'bin', 'jest.js');
  const args = ['--runTestsByPath', test, '--testNamePattern', `\\[${rule.replaceAll('.', '\\.')}\\]`];
  const env = { ...process.env, ...(server ? {} : { TEST_NO_SERVER: '1' }) };
  spawnSync(
    process.execPath,
    [
      jest,
      ...args,
      '--json',
      '--outputFile',
      output,
      '--reporters',
      'default',
      '--testTimeout',
      '60000',
      '--forceExit',
    ],
    { cwd: copy, env, encoding: 'utf8', timeout: 300_000 },
  );
  if (!fs.existsSync(output)) return [];
  const [file] = JSON.parse(fs.readFileSync(output, 'utf8')).testResults;
  return (file?.assertionResults ?? []).filter(({ fullName }) => fullName.includes(`[${rule}]`));
}

const count = (text, part) => text.split(part).length - 1;

function tryMutant(copy, mutant, baselines) {
  const file = path.join(copy, mutant.file);
  const source = fs.readFileSync(file, 'utf8');
  if (count(source, mutant.find) !== 1) return 'does not apply';
  const key = `${mutant.test} ${mutant.rule}`;
  if (!baselines.has(key)) baselines.set(key, runTests(copy, mutant, mutant.server === true));
  const baseline = baselines.get(key);
  if (
    !baseline.some(({ status }) => status === 'passed') ||
    baseline.some(({ status }) => status === 'failed')
  )
    return 'the rule has no passing test without the mutant';
  try {
    fs.writeFileSync(
      file,
      source.replace(mutant.find, () => mutant.replace),
    );
    if (mutant.build === true) build(copy);
    stamp(copy);
    const failed = runTests(copy, mutant, mutant.server === true).filter(({ status }) => status === 'failed');
    return failed.length > 0 ? 'killed' : 'SURVIVED';
  } finally {
    fs.writeFileSync(file, source);
    if (mutant.build === true) build(copy);
    stamp(copy);
  }
}

const all = JSON.parse(fs.readFileSync(path.join(__dirname, 'mutants.json'), 'utf8'));
const asked = process.argv.slice(2);
const selected = asked.length === 0 ? all : all.filter(({ name }) => asked.includes(name));
if (selected.length < asked.length) {
  console.error(
    `No such mutant: ${asked.filter((name) => !all.some((mutant) => mutant.name === name)).join(', ')}`,
  );
  process.exit(1);
}
const copy = copyTree();
try {
  if (selected.some(({ test }) => !['nothing', 'time'].includes(needOf(test)))) build(copy);
  stamp(copy);
  const baselines = new Map();
  let alive = 0;
  for (const mutant of selected) {
    const result = tryMutant(copy, mutant, baselines);
    if (result !== 'killed') alive += 1;
    console.log(`${result.padEnd(9)} ${mutant.rule.padEnd(7)} ${mutant.name.padEnd(34)} ${mutant.file}`);
  }
  console.log(`\n${selected.length - alive} of ${selected.length} mutants killed`);
  if (alive > 0) process.exitCode = 1;
} finally {
  fs.rmSync(copy, { recursive: true, force: true });
}
