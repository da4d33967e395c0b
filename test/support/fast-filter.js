'use strict';
// `jest --filter`: of the files that the command line selects, those that need neither a server nor a build.
const path = require('node:path');
const { needOf } = require('./needs');

const ROOT = path.resolve(__dirname, '..', '..');

module.exports = (files) => ({
  filtered: files.filter((file) => needOf(path.relative(ROOT, file).replaceAll(path.sep, '/')) === 'nothing'),
});
