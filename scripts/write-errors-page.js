'use strict';
// Writes docs/errors.md from the registry in lib (run `npm run build` first); a test compares both row by row.
const fs = require('node:fs');
const path = require('node:path');
const { ERROR_TYPES, EXIT_MEANINGS } = require('../lib/cli/exit-codes.js');

const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const page = `# Exit codes and error types

Every command ends with one of these codes and, when it did not succeed, says one of these types: on stderr for people,
and as \`error.type\` of the object that \`-o json\` and \`-o jsonl\` print. The registry in the code is \`ERROR_TYPES\`
(\`src/cli/exit-codes.ts\`); a test compares both row by row. What the types of a request say about tasks and money is in
[failures.md](failures.md).

<!-- prettier-ignore -->
${table(['Code', 'Meaning'], EXIT_MEANINGS)}

<!-- prettier-ignore -->
${table(
  ['Type', 'Code', 'Meaning', 'What to do'],
  ERROR_TYPES.map(({ type, exitCode, meaning, hint }) => [`\`${type}\``, exitCode, meaning, hint]),
)}
`;
fs.writeFileSync(path.resolve(__dirname, '..', 'docs', 'errors.md'), page);
