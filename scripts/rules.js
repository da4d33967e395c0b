'use strict';
// `npm run rules [-- ID …]`: rule → tests → result of the runs so far. Exits 1 on a gap.
const fs = require('node:fs');
const path = require('node:path');
const { makeReport, parseRules, problemLines } = require('./rules-report');

const root = path.resolve(__dirname, '..');
const resultsFile = path.join(root, 'node_modules', '.cache', 'temporal-media', 'rules.json');

function readResults() {
  try {
    return JSON.parse(fs.readFileSync(resultsFile, 'utf8')).files;
  } catch {
    console.error('No test results yet: run the tests first (npm test, or some files of it with npx jest).');
    return {};
  }
}

/** Source files that name a rule. */
function sourcesOf(id) {
  const named = new RegExp(`(?<![\\w.])${id.replaceAll('.', '\\.')}(?![0-9a-z]|\\.[0-9])`);
  return fs
    .readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .filter((file) => named.test(fs.readFileSync(path.join(root, 'src', file), 'utf8')))
    .map((file) => `src/${file.replaceAll('\\', '/')}`)
    .sort();
}

function printRule({ id, rule, section, tests }) {
  console.log(`${id}  (section ${section})\n  ${rule}\n\n  Tests`);
  if (tests.length === 0) console.log('    none');
  for (const { file, title, status } of tests)
    console.log(`    ${status.padEnd(8)} ${file}\n             ${title}`);
  console.log('\n  Named by');
  for (const file of sourcesOf(id)) console.log(`    ${file}`);
  console.log();
}

function printTable(report) {
  const gaps = new Set(report.gaps.map(({ id }) => id));
  for (const { id, tests } of report.rows) {
    const passed = tests.filter(({ status }) => status === 'passed');
    const files = [...new Set(tests.map(({ file }) => file))];
    const result = gaps.has(id) ? 'GAP ' : 'ok  ';
    console.log(
      `${id.padEnd(7)} ${result} ${String(passed.length).padStart(3)}/${tests.length}  ${files.join(', ')}`,
    );
  }
}

const rules = parseRules(fs.readFileSync(path.join(root, 'docs', 'contract-rules.md'), 'utf8'));
const report = makeReport(rules, readResults());
const asked = process.argv.slice(2);
if (asked.length > 0) {
  for (const id of asked) {
    const row = report.rows.find((other) => other.id === id);
    if (row !== undefined) printRule(row);
    else console.error(`${id}: no such rule`);
    if (row === undefined || report.gaps.includes(row)) process.exitCode = 1;
  }
} else {
  printTable(report);
  const problems = problemLines(report);
  console.log(
    `\n${rules.length} rules, ${report.gaps.length} without proof, ${report.unknown.length} unknown ids`,
  );
  for (const line of problems) console.log(`  ${line}`);
  if (problems.length > 0) process.exitCode = 1;
}
