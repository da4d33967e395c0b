'use strict';
// npm run golden:record [-- --replace] [NAME…]: records the histories of test/golden on real servers.
// NAME is a part of case names; none means every case whose files are not there yet.
// --replace overwrites: only until the files are declared append-only. Afterwards a changed history gets a new name.
const { spawnSync } = require('node:child_process');
const path = require('node:path');

const built = spawnSync(process.execPath, [path.join(__dirname, 'build.js')], { stdio: 'inherit' });
if (built.status !== 0) process.exit(built.status ?? 1);

const { record } = require('./golden/record');

const args = process.argv.slice(2);
const replace = args.includes('--replace');
const names = args.filter((arg) => arg !== '--replace');
const unknown = names.filter((name) => name.startsWith('-'));
if (unknown.length > 0) {
  console.error(`Unknown option ${unknown.join(' ')}. Usage: golden:record [-- --replace] [NAME…]`);
  process.exit(64);
}
record({ names, replace }).then(
  (code) => process.exit(code),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
