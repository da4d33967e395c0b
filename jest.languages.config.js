'use strict';
const config = require('./jest.config.js');

/**
 * Programs in other languages, and servers of other makers, with packages from their registries:
 * `npm run verify:languages`.
 * @type {import('jest').Config}
 */
module.exports = {
  ...config,
  testMatch: ['<rootDir>/test/languages/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  // Compilers and servers of their own: one at a time.
  maxWorkers: 1,
  // A module is compiled before its first test.
  testTimeout: 300_000,
};
