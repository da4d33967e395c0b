'use strict';
// Builds the packages and runs the demo: `npm run demo -- --out DIR` in a fresh clone.
const { spawnSync } = require('node:child_process');
const path = require('node:path');

const root = path.resolve(__dirname, '..');
const run = (...args) => spawnSync(process.execPath, args, { cwd: process.cwd(), stdio: 'inherit' });

const built = run(path.join(root, 'scripts', 'build.js'));
if (built.status !== 0) process.exit(built.status ?? 1);
const demo = run(path.join(root, 'packages', 'cli', 'lib', 'main.js'), 'demo', ...process.argv.slice(2));
process.exit(demo.status ?? 1);
