'use strict';
process.env.TEST_PAYLOADS = 's3';
const config = require('./jest.config.js');
const { files, names } = require('./test/support/inline-payloads.js');

/**
 * The end-to-end tests and those of commands that need a server once more, with every payload in a bucket: the second half
 * of `npm run verify:stores`.
 * @type {import('jest').Config}
 */
module.exports = {
  ...config,
  testMatch: files().map((file) => `<rootDir>/${file}`),
  testNamePattern: names(),
  // Each payload is a request more: with six on a busy machine, limits of seconds pass.
  maxWorkers: 3,
};
