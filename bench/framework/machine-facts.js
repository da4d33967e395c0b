'use strict';
// What a figure depends on besides the code. No name and no path of the machine.
const { spawnSync } = require('node:child_process');
const os = require('node:os');

/** Facts at the beginning of a run; `loadAverage` tells whether others used the machine. */
function machineFacts(root) {
  const [cpu] = os.cpus();
  return {
    date: new Date().toISOString(),
    // Those that it may use: a process can be bound to some of them.
    cores: os.availableParallelism(),
    cpu: cpu?.model ?? 'unknown',
    memoryGiB: Math.round(os.totalmem() / 2 ** 30),
    platform: `${os.platform()} ${os.release().split('.').slice(0, 2).join('.')} ${os.arch()}`,
    node: process.version,
    sdk: require('@temporalio/worker/package.json').version,
    commit: commitOf(root),
    loadAverage: os.loadavg().map((load) => Math.round(load * 100) / 100),
  };
}

/** `+` marks a tree with changes that are not committed. */
function commitOf(cwd) {
  const git = (...args) => spawnSync('git', args, { cwd, encoding: 'utf8' });
  const head = git('rev-parse', '--short=10', 'HEAD');
  if (head.status !== 0) return 'unknown';
  const changed = git('status', '--porcelain', '--untracked-files=no', 'src', 'bench').stdout.trim() !== '';
  return `${head.stdout.trim()}${changed ? '+' : ''}`;
}

module.exports = { machineFacts };
