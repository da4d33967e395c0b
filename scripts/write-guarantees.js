'use strict';
// `npm run guarantees [-- --from FOLDER | --check]`: writes docs/guarantees.md from proof/promises.json,
// proof/rows.json and the suites' committed results. `--from` first imports new results from the folder that
// test/support/proof.ts wrote.
const fs = require('node:fs');
const path = require('node:path');
const { formatText } = require('./format-text.js');
const {
  COMMITTED,
  ROOT,
  SIZES,
  readPromises,
  readResults,
  shortcomings,
  suiteProofs,
} = require('./proof-results');

const PAGE = path.join(ROOT, 'docs', 'guarantees.md');

/** Imports complete results. A part of a suite proves nothing, so incomplete results are only reported. */
function takeOver(from) {
  const proofs = suiteProofs(readPromises());
  for (const size of SIZES) {
    const target = path.join(COMMITTED, size);
    fs.mkdirSync(target, { recursive: true });
    for (const [suite, counts] of readResults(from, size)) {
      const lacks = proofs
        .filter((proof) => proof.suite === suite)
        .flatMap((proof) => shortcomings(proof, counts, size));
      if (lacks.length === 0) {
        const file = path.join(target, `${suite.replaceAll('/', '.')}.json`);
        fs.writeFileSync(file, formatText(file, JSON.stringify({ v: 1, suite, size, counts })));
        continue;
      }
      console.error(`not imported: ${lacks.join('; ')}`);
      process.exitCode = 1;
    }
  }
}

const number = (value) => value.toLocaleString('en-US');
const fileLink = (file) => `[${path.posix.basename(file).replace('.test.ts', '')}](../${file})`;

/** Maximum number of a suite's figures that a line shows. proof/results has all of them. */
const MOST_FIGURES = 4;

/**
 * Returns what a suite counted in its largest run: `20,000 schedules: **0** failures`. Failures that happened are
 * named.
 */
function figuresOf({ suite, figures = [], zero = [] }, results) {
  if (suite === undefined) return '';
  const size = SIZES.findLast((one) => results[one].has(suite));
  if (size === undefined) return ': not run yet';
  const counts = results[size].get(suite);
  const told = (what) => `${what in counts ? number(counts[what]) : '?'} ${what}`;
  const failed = zero.filter((what) => counts[what] !== 0);
  const found = failed.length === 0 ? '**0** failures' : `**${failed.map(told).join(', ')}**`;
  const counted = figures.slice(0, MOST_FIGURES).map(told).join(', ');
  const ran = size === SIZES.at(-1) ? '' : ` (${size})`;
  return `${ran}: ${[counted, ...(zero.length === 0 ? [] : [found])].join('; ')}`;
}

function section({ promise, how, assumes, proofs }, results) {
  const basis = assumes.length === 0 ? '' : ` Assumes ${assumes.join(', ')}.`;
  return `### ${promise}

${how}${basis}

${proofs.map((proof) => `- ${fileLink(proof.test)}${figuresOf(proof, results)}`).join('\n')}`;
}

function page({ promises, cannot, rows }, results) {
  return `# Guarantees

This page lists each promise and what its tests counted. \`npm run guarantees\` writes it from \`proof\`, and a test compares them. **Bold**
numbers count events that must not happen (all counts are in \`proof/results\`). A1 to A6 are the assumptions in
[created-once.md](created-once.md).

The counts are from \`npm run verify:deep\`, which runs before a release, or from \`npm run verify:long\` where marked \`(change)\`. A test
without numbers has only one size.

## Promises

${promises.map((promise) => section(promise, results)).join('\n\n')}

## What we cannot promise

${cannot.map(({ what, why }) => `- **${what}** ${why}`).join('\n')}

## Every point of failure

These tests cover the rows of the [failure model](failure-model.md#every-point-of-failure).

${rows.map(({ row, where }) => `- ${row}: ${where.map(fileLink).join(', ')}`).join('\n')}
`;
}

/** Returns the expected page. */
function guaranteesPage() {
  const results = Object.fromEntries(SIZES.map((size) => [size, readResults(COMMITTED, size)]));
  return formatText(PAGE, page(readPromises(), results));
}

function main(args) {
  const at = args.indexOf('--from');
  if (at >= 0) takeOver(path.resolve(args[at + 1]));
  const wanted = guaranteesPage();
  if (!args.includes('--check')) return fs.writeFileSync(PAGE, wanted);
  if (fs.readFileSync(PAGE, 'utf8') === wanted) return;
  console.error('docs/guarantees.md does not match its sources. Run npm run guarantees');
  process.exitCode = 1;
}

main(process.argv.slice(2));
