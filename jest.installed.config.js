'use strict';
const config = require('./jest.config.js');

/**
 * The packed package, and projects of users that install and run it: `npm run verify:installed`.
 * @type {import('jest').Config}
 */
module.exports = {
  ...config,
  testMatch: ['<rootDir>/test/installed/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
};
