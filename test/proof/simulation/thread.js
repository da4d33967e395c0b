'use strict';
// A thread of the simulation: the sources as they are, with placeholders for the two SDK modules that need a server and
// for what the operating system says of processes.
const { readFileSync } = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const { parentPort, workerData } = require('node:worker_threads');
const swc = require('@swc/core');

const STAND_INS = {
  '@temporalio/activity': path.join(__dirname, 'activity-sdk.ts'),
  '@temporalio/workflow': path.join(__dirname, 'workflow-sdk.ts'),
};

require.extensions['.ts'] = (loaded, filename) => {
  const { code } = swc.transformSync(readFileSync(filename, 'utf8'), {
    filename,
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'commonjs' },
  });
  loaded._compile(code, filename);
};
const SOURCES = {
  [path.resolve(__dirname, '../../../src/stores/files/this-machine.ts')]: path.join(
    __dirname,
    'this-machine.ts',
  ),
};
const resolve = Module._resolveFilename;
Module._resolveFilename = (request, ...rest) => {
  if (STAND_INS[request] !== undefined) return STAND_INS[request];
  const found = resolve(request, ...rest);
  return SOURCES[found] ?? found;
};

const { runMany } = require('./run-many.ts');

runMany(workerData).then(
  (result) => parentPort.postMessage(result),
  (error) => {
    throw error;
  },
);
