'use strict';
// `jest --filter`: what runs with every change, which is all but the long suites.
const path = require('node:path');
const { isLong } = require('./long-suites');

const ROOT = path.resolve(__dirname, '..', '..');

module.exports = (files) => ({
  filtered: files.filter((file) => !isLong(path.relative(ROOT, file).replaceAll(path.sep, '/'))),
});
