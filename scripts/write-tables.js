'use strict';
// Writes the pages and tables that say what went wrong and what to do, from lib (run `npm run build` first):
// docs/errors.md whole, and the tables in docs/failures.md and docs/on-call.md. A test compares all of them.
const fs = require('node:fs');
const path = require('node:path');
const { ERROR_TYPES, EXIT_MEANINGS } = require('../packages/cli/lib/shared/exit-codes.js');
const { CAMPAIGN_ADVICE, OUTCOME_ADVICE, SITUATIONS } = require('../lib/domain/advice.js');
const { FAILURE_TABLE } = require('../lib/domain/failure-table.js');

const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const ERRORS = `# Exit codes and error types

Every command ends with one of these codes and, when it did not succeed, says one of these types: on stderr for people,
and as \`error.type\` of the object that \`-o json\` and \`-o jsonl\` print. The registry in the code is \`ERROR_TYPES\`
(\`packages/cli/src/shared/exit-codes.ts\`); a test compares both row by row. What the types of a request say about tasks and money is in
[failures.md](failures.md).

<!-- prettier-ignore -->
${table(['Code', 'Meaning'], EXIT_MEANINGS)}

<!-- prettier-ignore -->
${table(
  ['Type', 'Code', 'Meaning', 'What to do'],
  ERROR_TYPES.map(({ type, exitCode, meaning, hint }) => [`\`${type}\``, exitCode, meaning, hint]),
)}
`;

const TABLES = {
  failures: table(
    ['Type', 'Meaning', 'Again?', 'Task?', 'Money?', 'What to do'],
    FAILURE_TABLE.map(({ type, meaning, retryable, taskMayExist, moneyMayBeOwed, hint }) => [
      `\`${type}\``,
      ...[meaning, retryable, taskMayExist, moneyMayBeOwed, hint],
    ]),
  ),
  situations: table(
    ['What holds', '`Safe to do` says'],
    Object.values(SITUATIONS).map(([, means, now]) => [means, now]),
  ),
  campaigns: table(
    ['Campaign', '`Safe to do` says'],
    [...Object.entries(CAMPAIGN_ADVICE).map(([state, now]) => [`\`${state}\``, now])],
  ),
  rows: table(
    ['Row', 'What to do'],
    [
      ...Object.entries(OUTCOME_ADVICE).flatMap(([type, [, row]]) =>
        row === undefined ? [] : [[`\`${type}\``, row]],
      ),
    ],
  ),
};

/** A page with each of its tables as the code has it: what stands between `<!-- table: NAME -->` and `<!-- end -->`. */
const withTables = (text) =>
  text.replace(
    /(<!-- table: (\w+) -->\n)[^]*?(<!-- end -->)/g,
    (_all, start, name, end) => `${start}\n<!-- prettier-ignore -->\n${TABLES[name]}\n\n${end}`,
  );

const DOCS = path.resolve(__dirname, '..', 'docs');
const read = (page) => fs.readFileSync(path.join(DOCS, page), 'utf8');

/** Every page by its name, as it has to be. */
exports.pages = () => ({
  'errors.md': ERRORS,
  'failures.md': withTables(read('failures.md')),
  'on-call.md': withTables(read('on-call.md')),
});

if (require.main === module)
  for (const [page, text] of Object.entries(exports.pages())) fs.writeFileSync(path.join(DOCS, page), text);
