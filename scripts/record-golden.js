'use strict';
// npm run golden:record [-- NAME…]: records histories for test/golden on real servers.
// NAME is a part of case names. Without a NAME, records every case that has no files yet. Nothing is overwritten: if a
// case now leads to another history, give it a new name or version. The old history is still replayed.
const { spawnSync } = require('node:child_process');
const path = require('node:path');

const built = spawnSync(process.execPath, [path.join(__dirname, 'build.js')], { stdio: 'inherit' });
if (built.status !== 0) process.exit(built.status ?? 1);

const { record } = require('./golden/record');

const names = process.argv.slice(2);
const unknown = names.filter((name) => name.startsWith('-'));
if (unknown.length > 0) {
  console.error(`Unknown option ${unknown.join(' ')}. Usage: golden:record [-- NAME…]`);
  process.exit(64);
}
record({ names }).then(
  (code) => process.exit(code),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
