'use strict';
// Records what every test really came to, for `npm run rules`, and fails a run of `npm test`, or of all tests, that leaves a
// rule without proof.
// RULES_GAPS=warn only tells.
const fs = require('node:fs');
const path = require('node:path');
const { makeReport, mergeResults, parseRules, problemLines } = require('../../scripts/rules-report');

class RulesReporter {
  constructor(globalConfig) {
    this.config = globalConfig;
    this.ran = {};
  }

  onTestResult(_test, { testFilePath, testResults }) {
    const file = path.relative(this.config.rootDir, testFilePath).replaceAll(path.sep, '/');
    this.ran[file] = testResults.map(({ fullName, status }) => ({ title: fullName, status }));
  }

  onRunComplete() {
    const { rootDir } = this.config;
    const file = path.join(rootDir, 'node_modules', '.cache', 'temporal-media', 'rules.json');
    const filtered = Boolean(this.config.testNamePattern);
    const provesAll = !filtered && isWholeRun(this.config);
    const full = provesAll && !this.config.filter;
    const files = mergeResults(existing(rootDir, readFiles(file)), this.ran, { full, filtered });
    fs.mkdirSync(path.dirname(file), { recursive: true });
    // Two runs at once: each file is whole, the later one wins.
    fs.writeFileSync(`${file}.${process.pid}`, JSON.stringify({ v: 1, files }));
    fs.renameSync(`${file}.${process.pid}`, file);
    if (!provesAll) return;
    const rules = parseRules(fs.readFileSync(path.join(rootDir, 'docs', 'contract-rules.md'), 'utf8'));
    const problems = problemLines(makeReport(rules, this.ran));
    if (problems.length === 0) return;
    process.stderr.write(`\nRules without proof (npm run rules -- ID):\n  ${problems.join('\n  ')}\n`);
    if (process.env.RULES_GAPS !== 'warn') this.error = new Error(`${problems.length} rules without proof`);
  }

  getLastError() {
    return this.error;
  }
}

function isWholeRun(config) {
  const { testPathPatterns, nonFlagArgs, findRelatedTests, onlyChanged, shard, onlyFailures, filter } =
    config;
  const patterns = testPathPatterns?.patterns ?? [];
  return (
    patterns.length === 0 &&
    (nonFlagArgs ?? []).length === 0 &&
    !findRelatedTests &&
    !onlyChanged &&
    !onlyFailures &&
    (!filter || path.basename(filter) === 'every-change.js') &&
    shard === undefined
  );
}

function readFiles(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')).files;
  } catch {
    return {};
  }
}

/** Results of test files that were removed or renamed prove nothing. */
function existing(rootDir, files) {
  return Object.fromEntries(
    Object.entries(files).filter(([file]) => fs.existsSync(path.join(rootDir, file))),
  );
}

module.exports = RulesReporter;
