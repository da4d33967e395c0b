'use strict';
// `npm run test:fast [-- PATTERN … FLAGS]`: runs the tests that need neither a Temporal server nor a build, then prints
// what it left out. Arguments are passed to jest.
const { spawnSync } = require('node:child_process');
const path = require('node:path');
const { leftOut } = require('../test/support/needs');

const root = path.resolve(__dirname, '..');
const filter = path.join(root, 'test', 'support', 'fast-filter.js');
const started = Date.now();
const { status } = spawnSync(
  process.execPath,
  [require.resolve('jest/bin/jest'), '--filter', filter, ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit' },
);
console.log(`\nnpm run test:fast took ${Math.round((Date.now() - started) / 1000)} s. Left out:`);
for (const line of leftOut(process.argv.slice(2))) console.log(`  ${line}`);
process.exitCode = status ?? 1;
