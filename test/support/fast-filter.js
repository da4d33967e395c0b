'use strict';
// `jest --filter`: of the files that the command line selects, those that need neither a server nor a build.
const { filterFiles } = require('./filter-files');
const { needOf } = require('./needs');

module.exports = filterFiles((file) => needOf(file) === 'nothing');
