'use strict';
/* global expect */
// What tests get for `import fc from 'fast-check'` (jest.config.js): every property that fails prints the command that
// repeats it, FC_SEED and FC_PATH repeat it, and how many runs it has follows from PROOF_SIZE, without a word in the test.
const path = require('node:path');
const fastCheck = require('fast-check/itself');
const { countProperty, runsOf } = require('./property-runs');

/** How many properties the test that runs now has started. */
const started = { test: undefined, properties: 0 };

/** As `assert` of fast-check, with the seed and the path of the environment where the caller gives none. */
function assert(property, parameters = {}) {
  const { currentTestName: test } = expect.getState();
  started.properties = started.test === test ? started.properties + 1 : 1;
  started.test = test;
  // A path leads through the values of one property only: in a test with several, through those of the first.
  const isFirst = started.properties === 1;
  return fastCheck.assert(property, {
    reporter: (run) => {
      throwFailed(run, isFirst);
      countProperty(expect.getState(), run.numRuns);
    },
    ...fromEnvironment(process.env, isFirst),
    ...parameters,
    numRuns: runsOf(parameters.numRuns),
  });
}

function fromEnvironment({ FC_SEED, FC_PATH }, isFirst) {
  if (!FC_SEED) return {};
  if (!/^-?\d+$/.test(FC_SEED)) throw new Error(`FC_SEED is a whole number, not ${JSON.stringify(FC_SEED)}.`);
  return { seed: Number(FC_SEED), ...(FC_PATH && isFirst ? { path: FC_PATH, endOnFailure: true } : {}) };
}

function throwFailed(run, isFirst) {
  if (!run.failed) return;
  throw new Error(`${fastCheck.defaultReportMessage(run)}\n\nRepeat: ${repeatCommand(run, isFirst)}`, {
    cause: run.errorInstance,
  });
}

/** For a POSIX shell. The seed alone repeats the whole run; with the path only the smallest failing value is run. */
function repeatCommand({ seed, counterexamplePath }, isFirst) {
  const { testPath, currentTestName } = expect.getState();
  const file = path.relative(path.resolve(__dirname, '..', '..'), testPath).replaceAll(path.sep, '/');
  const only = `^${currentTestName.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`;
  return [
    `FC_SEED=${seed}`,
    ...(isFirst && counterexamplePath ? [`FC_PATH=${counterexamplePath}`] : []),
    `npx jest ${file} -t ${quoted(only)}`,
  ].join(' ');
}

function quoted(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

module.exports = {
  ...fastCheck,
  __esModule: true,
  default: { ...fastCheck.default, assert },
  assert,
};
