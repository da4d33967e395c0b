'use strict';
const config = require('./jest.config.js');

/**
 * The stores on real servers: `npm run verify:stores`.
 * @type {import('jest').Config}
 */
module.exports = {
  ...config,
  testMatch: ['<rootDir>/test/store-servers/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
};
