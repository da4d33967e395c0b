'use strict';
// `npm run guarantees [-- --from FOLDER | --check]`: writes docs/guarantees.md from proof/promises.json, proof/rows.json and the
// committed results of the suites. `--from` takes new results over first: the folder of test/support/proof.ts.
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

/** What a part of a suite has counted proves nothing: results that fall short stay where they are, and are told. */
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
      console.error(`not taken over: ${lacks.join('; ')}`);
      process.exitCode = 1;
    }
  }
}

const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const number = (value) => value.toLocaleString('en-US');
const fileLink = (file) => `[${path.posix.basename(file)}](../${file})`;

/** `20,000 schedules, **0** accepted beyond one`: what a suite has counted at one size. */
function figureOf({ suite, figures = [], zero = [] }, counts) {
  if (suite === undefined) return '';
  if (counts === undefined) return 'not run yet';
  const told = (what) => (what in counts ? number(counts[what]) : '?');
  return [
    ...figures.map((what) => `${told(what)} ${what}`),
    ...zero.map((what) => `**${told(what)}** ${what}`),
  ].join(', ');
}

function section({ promise, how, assumes, proofs }, results) {
  const basis = assumes.length === 0 ? 'No assumption.' : `Rests on ${assumes.join(', ')}.`;
  const rows = proofs.map((proof) => [
    fileLink(proof.test),
    ...SIZES.map((size) => figureOf(proof, results[size].get(proof.suite))),
  ]);
  return `### ${promise}

${how} ${basis}

<!-- prettier-ignore -->
${table(['Test', ...SIZES], rows)}`;
}

function page({ assumptions, promises, cannot, rows }, results) {
  return `# Guarantees

Written by \`npm run guarantees\` from [proof/promises.json](../proof/promises.json),
[proof/rows.json](../proof/rows.json) and what the suites have counted (\`proof/results\`); a test compares.
\`change\` is the size beside a change (\`npm run verify:long\`), \`deep\` the one before a release (\`npm run verify:deep\`,
at most four hours). **Bold** numbers count failures that were looked for. A test without numbers has one size; an empty cell means that the suite searches at random and runs before a release only.
\`temporal-postgres\` runs by \`npm run verify:temporal-postgres\`, on a Temporal server with PostgreSQL persistence.

## What it rests on

${Object.entries(assumptions)
  .map(([id, text]) => `- **${id}** ${text}`)
  .join('\n')}

## Promises

${promises.map((promise) => section(promise, results)).join('\n\n')}

## What we cannot promise

${cannot.map(({ what, why }) => `- **${what}** ${why}`).join('\n')}

## Every point of failure

What can fail between the decision to create and a file that is verified, what it becomes, and where that is proved.

<!-- prettier-ignore -->
${table(
  ['No.', 'What happens', 'What it becomes', 'Proved in'],
  rows.map(({ row, point, becomes, where }) => [row, point, becomes, where.map(fileLink).join(', ')]),
)}
`;
}

/** The page as it should be. */
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
  console.error('docs/guarantees.md is not what its sources say: npm run guarantees');
  process.exitCode = 1;
}

main(process.argv.slice(2));
