'use strict';
// Downloads a large video to disk with its SHA-256: our activity against curl, tee and openssl, from the same server,
// in turns.
const { spawnSync } = require('node:child_process');
const { mkdir, rm } = require('node:fs/promises');
const path = require('node:path');
const { performance } = require('node:perf_hooks');
const { startBenchChild } = require('../framework/child.js');
const { goal } = require('../framework/goal.js');
const { cleanEnvironment } = require('../framework/media-stack.js');
const { residentBytes, watchMemory } = require('../framework/process-usage.js');
const { median, medianAndSpread, round } = require('../framework/statistics.js');

const title = 'downloading 1 GiB to disk with its SHA-256, against curl | tee | openssl';
const MIB = 2 ** 20;
const WARM_UP_BYTES = 8 * MIB;
/** Without and with the sync that our download also does before it reports success. */
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

/** Each round has its own process. Memory is compared with its value after a small warm-up download. */
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
      columns: ['download', 'MiB/s', 'our speed relative to it', 'memory growth, MiB'],
      rows: [
        row('this package: verified, fsynced', ours, '', medianAndSpread(growth)),
        ...(compared ? [row('curl, tee, openssl', curl, ratio(curl), '')] : []),
        ...(compared ? [row('curl, tee, openssl, sync', curlSync, ratio(curlSync), '')] : []),
      ],
    },
    goals: [
      ...(compared ? [goal('throughput against curl, tee, openssl', ratio(curl), '>=', 0.9, 'x')] : []),
      goal('memory growth, worst round', grown, '<=', 64, 'MiB'),
    ],
    notes: [
      `${ours.length} rounds of ${bytes / MIB} MiB, in turns, from one server on loopback. The spread is in parentheses.`,
      'Our download is one thread and waits for the disk. The pipeline is three processes and leaves the bytes in the page cache.',
      ...(compared ? [] : [`Not compared: ${missing.join(', ')} not installed.`]),
    ],
  };
}

module.exports = { title, run };
