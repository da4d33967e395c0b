'use strict';
// `jest --filter`: what runs with every change, which is all but the long suites.
const { filterFiles } = require('./filter-files');
const { isLong } = require('./long-suites');

module.exports = filterFiles((file) => !isLong(file));
