'use strict';
const config = require('./jest.config.js');

/**
 * Projects of users that install the packed package and run it: `npm run verify:installed`.
 * @type {import('jest').Config}
 */
module.exports = {
  ...config,
  testMatch: ['<rootDir>/test/installed/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
};
