'use strict';
// `npm run rules`: prints rule → tests → result of the runs so far. Exits with 1 if there is a gap. `npm run rules --
// ID …`: prints the rule, its tests and the files that name it. Exits with 1 if it has no test or a failed one.
const fs = require('node:fs');
const path = require('node:path');
const { makeReport, namesRule, nearIds, parseRules, problemLines, withNotRun } = require('./rules-report');

const root = path.resolve(__dirname, '..');
const resultsFile =
  process.env.RULES_RESULTS ?? path.join(root, 'node_modules', '.cache', 'temporal-media', 'rules.json');

function readResults() {
  try {
    return JSON.parse(fs.readFileSync(resultsFile, 'utf8')).files;
  } catch {
    console.error(
      'No test results yet. Run the tests first (npm test, or individual files with npx jest).\n',
    );
    return {};
  }
}

/** Returns the texts of all files in a folder, or of the file itself, by path. */
function textsOf(place, ending) {
  const start = path.join(root, place);
  const isFile = fs.statSync(start).isFile();
  const files = isFile ? [''] : fs.readdirSync(start, { recursive: true, encoding: 'utf8' }).sort();
  return Object.fromEntries(
    files
      .filter((file) => isFile || ending.test(file))
      .map((file) => [
        path.join(place, file).replaceAll('\\', '/').replace(/\/$/, ''),
        fs.readFileSync(path.join(start, file), 'utf8'),
      ]),
  );
}

function printRule({ id, rule, section, tests }, texts) {
  console.log(`${id}  (section ${section})\n  ${rule}\n\n  Tests`);
  if (tests.length === 0) console.log('    none');
  for (const [i, { file, title, status }] of tests.entries()) {
    if (file !== tests[i - 1]?.file) console.log(`    ${file}`);
    console.log(`      ${status.padEnd(8)} ${title}`);
  }
  console.log('\n  Named by');
  for (const [file, text] of Object.entries(texts)) if (namesRule(text, id)) console.log(`    ${file}`);
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
const results = readResults();
const asked = process.argv.slice(2);
if (asked.length > 0) {
  // The titles in test/rules are about this report.
  const tests = textsOf('test', /^(?!rules[\\/]).*\.test\.ts$/);
  const texts = {
    ...textsOf('src', /\.ts$/),
    ...textsOf('packages', /\/src\/.*\.ts$/),
    ...textsOf('test', /\.[tj]s$/),
    ...textsOf('docs', /\.md$/),
    ...textsOf('README.md'),
    ...textsOf('CONTRIBUTING.md'),
    ...textsOf('scripts/mutants.json'),
  };
  const report = makeReport(rules, withNotRun(results, tests));
  for (const name of asked) {
    const row = report.rows.find(({ id }) => id.toLowerCase() === name.toLowerCase());
    if (row === undefined) {
      const near = nearIds(
        name,
        rules.map(({ id }) => id),
      );
      console.error(
        near.length === 0
          ? `${name}: no such rule. docs/contract-rules.md lists all rules`
          : `${name}: no such rule. Similar: ${near.join(', ')}`,
      );
    } else printRule(row, texts);
    const proofs = row?.tests.filter(({ status }) => status === 'passed' || status === 'not run') ?? [];
    if (proofs.length === 0 || row.tests.some(({ status }) => status === 'failed')) process.exitCode = 1;
  }
} else {
  const report = makeReport(rules, results);
  printTable(report);
  const problems = problemLines(report);
  console.log(
    `\n${rules.length} rules, ${report.gaps.length} without proof, ${report.unknown.length} unknown ids`,
  );
  for (const line of problems) console.log(`  ${line}`);
  if (problems.length > 0) process.exitCode = 1;
}
