'use strict';
const { execFileSync } = require('node:child_process');
const path = require('node:path');

const ROOT = path.resolve(__dirname, '..');
const OXFMT = path.join(path.dirname(require.resolve('oxfmt/package.json')), 'bin', 'oxfmt');

/** The text of a generated file as `npm run format` would leave it; the name of the file decides how. */
function formatText(file, text) {
  const args = [OXFMT, '--config', path.join(ROOT, '.oxfmtrc.json'), '--stdin-filepath', path.basename(file)];
  return execFileSync(process.execPath, args, { cwd: ROOT, input: text, encoding: 'utf8' });
}

module.exports = { formatText };
