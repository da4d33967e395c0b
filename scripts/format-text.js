'use strict';
const { execFileSync } = require('node:child_process');
const path = require('node:path');

const ROOT = path.resolve(__dirname, '..');
const OXFMT = path.join(path.dirname(require.resolve('oxfmt/package.json')), 'bin', 'oxfmt');

/** Returns a generated file's text as `npm run format` would leave it. The file's name decides the format. */
function formatText(file, text) {
  const args = [OXFMT, '--config', path.join(ROOT, '.oxfmtrc.json'), '--stdin-filepath', path.basename(file)];
  return execFileSync(process.execPath, args, { cwd: ROOT, input: text, encoding: 'utf8' });
}

module.exports = { formatText };
