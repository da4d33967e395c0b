'use strict';
// A large video to disk with its SHA-256: our download activity against curl, tee and openssl, from the same server,
// turn by turn.
const { spawnSync } = require('node:child_process');
const { mkdir, rm } = require('node:fs/promises');
const path = require('node:path');
const { performance } = require('node:perf_hooks');
const { startBenchChild } = require('../framework/child.js');
const { goal } = require('../framework/goal.js');
const { cleanEnvironment } = require('../framework/media-stack.js');
const { residentBytes, watchMemory } = require('../framework/process-usage.js');
const { median, medianAndSpread, round } = require('../framework/statistics.js');

const title = 'download of 1 GiB to disk with its SHA-256 against curl | tee | openssl';
const MIB = 2 ** 20;
const WARM_UP_BYTES = 8 * MIB;
/** Without and with what our download does too: the bytes are on the disk before it says so. */
const PIPELINES = {
  curl: 'curl -s "$URL" | tee "$FILE" | openssl dgst -sha256',
  curlSync: 'curl -s "$URL" | tee "$FILE" | openssl dgst -sha256 && sync "$FILE"',
};

async function run({ scope, say, quick }) {
  const [bytes, rounds] = quick ? [32 * MIB, 1] : [1024 * MIB, 3];
  const folder = await scope.folder();
  const { ready } = await startBenchChild(scope, 'media-host', cleanEnvironment());
  const missing = ['curl', 'openssl', 'tee', 'sync'].filter((tool) => !isInstalled(tool));
  const measured = { ours: [], curl: [], curlSync: [], growth: [] };
  for (let turn = 0; turn < rounds; turn += 1) {
    const ours = await ourDownload(scope, ready.url, path.join(folder, `round-${turn}`), bytes);
    measured.ours.push(bytes / MIB / (ours.ms / 1000));
    measured.growth.push(ours.growth / MIB);
    for (const [name, command] of missing.length > 0 ? [] : Object.entries(PIPELINES)) {
      const theirs = await pipeline(command, `${ready.url}/v1/videos/size-${bytes}/content`, folder);
      if (!theirs.output.includes(ours.sha256)) throw new Error('The two hashes differ.');
      measured[name].push(bytes / MIB / (theirs.ms / 1000));
    }
    say(`round ${turn + 1} of ${rounds}`);
  }
  return figures(measured, missing, bytes);
}

/** In a process of its own for each round: memory is compared with that before, after a small download to warm up. */
async function ourDownload(scope, url, folder, bytes) {
  await mkdir(folder);
  const env = { ...cleanEnvironment(), BENCH_URL: url, BENCH_FOLDER: folder };
  const child = await startBenchChild(scope, 'transfers', env);
  await child.ask({ download: WARM_UP_BYTES });
  const before = residentBytes(child.pid);
  const memory = watchMemory(child.pid);
  const { ms, sha256, bytes: stored } = await child.ask({ download: bytes });
  const growth = memory.stop() - before;
  if (stored !== bytes) throw new Error(`${stored} of ${bytes} bytes were stored.`);
  await child.stop();
  await rm(folder, { recursive: true });
  return { ms, sha256, growth };
}

async function pipeline(command, url, folder) {
  const file = path.join(folder, 'curl.mp4');
  const startedAt = performance.now();
  const { status, stdout } = spawnSync('sh', ['-c', command], {
    env: { ...cleanEnvironment(), URL: url, FILE: file },
    encoding: 'utf8',
  });
  const ms = performance.now() - startedAt;
  if (status !== 0) throw new Error(`curl | tee | openssl ended with ${status}.`);
  await rm(file);
  return { ms, output: stdout };
}

function isInstalled(tool) {
  return spawnSync(tool, ['--version'], { stdio: 'ignore' }).error === undefined;
}

function figures({ ours, curl, curlSync, growth }, missing, bytes) {
  const compared = missing.length === 0;
  const row = (name, rates, ...rest) => [name, medianAndSpread(rates, 0), ...rest];
  const ratio = (rates) => round(median(ours) / median(rates), 2);
  const grown = round(Math.max(...growth));
  return {
    values: { mebibytes: bytes / MIB, mibPerSecond: { ours, curl, curlSync }, growthMib: growth },
    table: {
      columns: ['download', 'MiB/s', 'ratio, ours to it', 'growth of memory, MiB'],
      rows: [
        row('this package: verified, fsynced', ours, '', medianAndSpread(growth)),
        ...(compared ? [row('curl, tee, openssl', curl, ratio(curl), '')] : []),
        ...(compared ? [row('curl, tee, openssl, sync', curlSync, ratio(curlSync), '')] : []),
      ],
    },
    goals: [
      ...(compared ? [goal('throughput against curl, tee, openssl', ratio(curl), '>=', 0.9, 'x')] : []),
      goal('growth of memory, highest round', grown, '<=', 64, 'MiB'),
    ],
    notes: [
      `${ours.length} rounds of ${bytes / MIB} MiB, taking turns, from one server on loopback; in brackets the spread.`,
      'Ours is one thread and waits for the disk; the pipeline is three processes and leaves the bytes to the page cache.',
      ...(compared ? [] : [`Not compared: ${missing.join(', ')} not installed.`]),
    ],
  };
}

module.exports = { title, run };
