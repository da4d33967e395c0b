'use strict';
// What `jest --filter` takes: a function that gets every test file, and answers with those that shall run.
const path = require('node:path');

const ROOT = path.resolve(__dirname, '..', '..');

/** @param {(file: string) => boolean} keep Whether a file runs; its path is relative to the repository, with slashes. */
const filterFiles = (keep) => (files) => ({
  filtered: files.filter((file) => keep(path.relative(ROOT, file).replaceAll(path.sep, '/'))),
});

module.exports = { filterFiles };
