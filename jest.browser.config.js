'use strict';
const config = require('./jest.config.js');

/**
 * Pages in a real Chromium, `/usr/bin/chromium` or `CHROMIUM_PATH`: `npm run verify:browser`. Skipped without one.
 * @type {import('jest').Config}
 */
module.exports = {
  ...config,
  testMatch: ['<rootDir>/test/browser/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
};
