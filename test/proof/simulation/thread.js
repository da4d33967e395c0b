'use strict';
// A thread of the simulation: the sources as they are, with placeholders for the two SDK modules that need a server.
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
const resolve = Module._resolveFilename;
Module._resolveFilename = (request, ...rest) => STAND_INS[request] ?? resolve(request, ...rest);

const { runMany } = require('./run-many.ts');

runMany(workerData).then(
  (result) => parentPort.postMessage(result),
  (error) => {
    throw error;
  },
);
