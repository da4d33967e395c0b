'use strict';
// Programs and packages in the user's cache folder: brought once, outside the tree, and kept.
const { execFileSync } = require('node:child_process');
const { createHash } = require('node:crypto');
const { existsSync, mkdirSync, rmSync, writeFileSync } = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const CACHE = path.join(
  process.env['XDG_CACHE_HOME'] ?? path.join(os.homedir(), '.cache'),
  'temporal-media',
  'languages',
);

function cachedFolder(name, madeOf, fill) {
  const digest = createHash('sha256').update(madeOf).digest('hex').slice(0, 16);
  const folder = path.join(CACHE, `${name}-${digest}`);
  // Not renamed: a virtual environment knows its own path.
  const mark = path.join(folder, '.whole');
  if (existsSync(mark)) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  try {
    fill(folder);
    writeFileSync(mark, '');
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  return folder;
}

function fromNpm(name, ...packages) {
  const folder = cachedFolder(name, packages.join(' '), (dir) => {
    const args = ['install', '--prefix', dir, '--no-save', '--ignore-scripts', ...packages];
    execFileSync('npm', args, { stdio: 'pipe', shell: process.platform === 'win32' });
  });
  return path.join(folder, 'node_modules');
}

function nodeBinary(version) {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const name = `node-${platform}-${process.arch}`;
  const program = path.join(fromNpm(`node-${version}`, `${name}@${version}`), name, 'bin', 'node');
  return existsSync(program) ? program : `${program}.exe`;
}

module.exports = { cachedFolder, fromNpm, nodeBinary };
