'use strict';
// How many runs a property has, and the count of all of them: each test file writes what its properties did, and the
// reporter adds up the files of one run of jest.
const { createHash } = require('node:crypto');
const { mkdirSync, readFileSync, statSync, writeFileSync } = require('node:fs');
const path = require('node:path');

const ROOT = path.resolve(__dirname, '..', '..');
const SIZE = process.env.PROOF_SIZE === 'deep' ? 'deep' : 'change';
const RUNS = { change: 1_000, deep: 100_000 };
/** What `deep` makes of a number that a test gives because its property is expensive. */
const DEEPER = 10;

const outFolder = () =>
  path.resolve(process.env.PROOF_OUT ?? 'node_modules/.cache/temporal-media/proof', SIZE);

/** Runs of one property; `given` is what its test asks for. */
function runsOf(given) {
  if (given === undefined) return RUNS[SIZE];
  return SIZE === 'deep' ? given * DEEPER : given;
}

/** What the properties of this test file did; the module lives as long as the file runs. */
const done = [];

function countProperty({ testPath, currentTestName }, runs) {
  done.push({ test: currentTestName, runs });
  const file = fileOf(testPath);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(done));
}

function fileOf(testPath) {
  const hash = createHash('sha256').update(path.relative(ROOT, testPath)).digest('hex').slice(0, 16);
  return path.join(outFolder(), 'properties', `${hash}.json`);
}

/** One line and one file, as `proved` of ./proof.ts, when the properties of test/proof were among what ran. */
function provedProperties({ testResults, startTime }) {
  const files = testResults.map(({ testFilePath }) => testFilePath);
  const own = (file) => path.relative(ROOT, file).replaceAll(path.sep, '/');
  if (!files.some((file) => own(file).startsWith('test/proof/properties'))) return;
  const all = files
    .filter((file) => !own(file).startsWith('test/support/'))
    .flatMap((file) => read(file, startTime));
  const full = all.filter(({ runs }) => runs >= RUNS[SIZE]);
  const counts = {
    properties: full.length,
    'minimum runs per property': Math.min(...full.map(({ runs }) => runs)),
    'expensive properties with fewer runs': all.length - full.length,
    'total runs': all.reduce((sum, { runs }) => sum + runs, 0),
    'files with a failure': testResults.filter(({ numFailingTests }) => numFailingTests > 0).length,
  };
  const text = Object.entries(counts).map(([what, count]) => `${count.toLocaleString('en-US')} ${what}`);
  process.stdout.write(`proof properties (${SIZE}): ${text.join(', ')}\n`);
  const proof = { v: 1, suite: 'properties', size: SIZE, counts };
  writeFileSync(path.join(outFolder(), 'properties.json'), `${JSON.stringify(proof, null, 2)}\n`);
}

/** Nothing of an earlier run. */
function read(testPath, since) {
  try {
    const file = fileOf(testPath);
    return statSync(file).mtimeMs < since ? [] : JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return [];
  }
}

module.exports = { countProperty, provedProperties, runsOf };
