'use strict';
// `jest --filter`: the long suites, for `npm run verify:long`.
const path = require('node:path');
const { isLong } = require('./long-suites');

const ROOT = path.resolve(__dirname, '..', '..');

module.exports = (files) => ({
  filtered: files.filter((file) => isLong(path.relative(ROOT, file).replaceAll(path.sep, '/'))),
});
