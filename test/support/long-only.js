'use strict';
// `jest --filter`: the long suites, for `npm run verify:long`.
const { filterFiles } = require('./filter-files');
const { isLong } = require('./long-suites');

module.exports = filterFiles(isLong);
