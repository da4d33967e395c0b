'use strict';
const config = require('./jest.config.js');

/**
 * Careless changes of every workflow, the command `replay` on a real server and debuggers: `npm run verify:replays`.
 * @type {import('jest').Config}
 */
module.exports = {
  ...config,
  testMatch: ['<rootDir>/test/replays/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
};
