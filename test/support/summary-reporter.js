'use strict';
const { provedProperties } = require('./property-runs');

/** The last line of a run in words that any reader of logs understands: `N passed, N failed, N skipped`. */
module.exports = class SummaryReporter {
  onRunComplete(_contexts, results) {
    const broken = results.testResults.filter((file) => file.testExecError !== undefined).length;
    const failed = results.numFailedTests + broken;
    const skipped = results.numPendingTests + results.numTodoTests;
    provedProperties(results);
    process.stdout.write(`\n${results.numPassedTests} passed, ${failed} failed, ${skipped} skipped\n`);
  }
};
