'use strict';
// Writes the pages and tables about errors and what to do, from lib (run `npm run build` first): all of docs/errors.md,
// and the tables in docs/failures.md and docs/on-call.md. A test compares them.
const fs = require('node:fs');
const path = require('node:path');
const { COMMAND_ERRORS, ERROR_TYPES, EXIT_MEANINGS } = require('../packages/cli/lib/shared/exit-codes.js');
const { CAMPAIGN_ADVICE, SITUATIONS } = require('../lib/domain/advice.js');
const { FAILURE_TABLE } = require('../lib/domain/failure-table.js');

const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const isOfCommand = ({ type }) => type in COMMAND_ERRORS;

/** Returns the request outcomes with this code, whose rows are in docs/failures.md. */
const outcomesOf = (code) =>
  ERROR_TYPES.filter((row) => row.exitCode === code && !isOfCommand(row))
    .map(({ type }) => `\`${type}\``)
    .join(', ');

const ERRORS = `# Exit codes and error types

Every command ends with one of these exit codes. Unless it succeeds, it also prints an error type on stderr, or in \`error.type\` of the object
that \`-o json\` and \`-o jsonl\` print. [failures.md](failures.md) explains each outcome of a request and what to do.

<!-- prettier-ignore -->
${table(
  ['Code', 'Meaning', 'Outcomes of requests'],
  EXIT_MEANINGS.map(([code, meaning]) => [code, meaning, outcomesOf(code)]),
)}

These are the commands' own error types. A command prints each with a hint (\`error.hint\`); the hints are in \`COMMAND_ERRORS\`
(\`packages/cli/src/shared/exit-codes.ts\`).

<!-- prettier-ignore -->
${table(
  ['Type', 'Code', 'Meaning'],
  ERROR_TYPES.filter(isOfCommand).map(({ type, exitCode, meaning }) => [`\`${type}\``, exitCode, meaning]),
)}
`;

/** Matches refused plans: nothing was sent, and the planning command says what to correct. */
const OF_PLANS = /^(no_|manifest_|budget_|mixed_|unpriced_)/;

/** Situations in which there is nothing to do for the workflow itself. */
const QUIET = ['open', 'batch_open', 'batch_ended', 'completed', 'completed_once'];

/** Merges rows with the same advice. */
function byAdvice(rows) {
  const types = new Map();
  for (const [type, advice] of rows) types.set(advice, [...(types.get(advice) ?? []), `\`${type}\``]);
  return [...types].map(([advice, of]) => [of.join(', '), advice]);
}

const TABLES = {
  failures: table(
    ['Type', 'Meaning', 'Again?', 'Task?', 'Money?', 'What to do'],
    FAILURE_TABLE.map(({ type, meaning, retryable, taskMayExist, moneyMayBeOwed, hint }) => [
      `\`${type}\``,
      ...[meaning, retryable, taskMayExist, moneyMayBeOwed, hint],
    ]),
  ),
  situations: table(
    ['Situation', '`Safe to do` says'],
    Object.entries(SITUATIONS)
      .filter(([name]) => !QUIET.includes(name))
      .map(([, [, means, now]]) => [means, now]),
  ),
  campaigns: table(
    ['Campaign', '`Safe to do` says'],
    byAdvice(Object.entries(CAMPAIGN_ADVICE).filter(([state]) => !OF_PLANS.test(state))),
  ),
};

/**
 * Returns a page with each of its tables, between `<!-- table: NAME -->` and `<!-- end -->`, generated from the code.
 */
const withTables = (text) =>
  text.replace(
    /(<!-- table: (\w+) -->\n)[^]*?(<!-- end -->)/g,
    (_all, start, name, end) => `${start}\n<!-- prettier-ignore -->\n${TABLES[name]}\n\n${end}`,
  );

const DOCS = path.resolve(__dirname, '..', 'docs');
const read = (page) => fs.readFileSync(path.join(DOCS, page), 'utf8');

/** Returns the expected text of every page, by name. */
exports.pages = () => ({
  'errors.md': ERRORS,
  'failures.md': withTables(read('failures.md')),
  'on-call.md': withTables(read('on-call.md')),
});

if (require.main === module)
  for (const [page, text] of Object.entries(exports.pages())) fs.writeFileSync(path.join(DOCS, page), text);
