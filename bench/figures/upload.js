'use strict';
// Memory of an image edit with a 300 MB file, from the user's folder through the store to the service.
const { Buffer } = require('node:buffer');
const { randomBytes } = require('node:crypto');
const { open } = require('node:fs/promises');
const path = require('node:path');
const { startBenchChild } = require('../framework/child.js');
const { goal } = require('../framework/goal.js');
const { cleanEnvironment } = require('../framework/media-stack.js');
const { residentBytes, watchMemory } = require('../framework/process-usage.js');
const { median, medianAndSpread, round } = require('../framework/statistics.js');

const title = 'memory growth while an image edit uploads 300 MB as multipart';
const MEGABYTE = 1_000_000;
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

async function run({ scope, say, quick }) {
  const [megabytes, rounds] = quick ? [20, 1] : [300, 3];
  const { ready } = await startBenchChild(scope, 'media-host', cleanEnvironment());
  const [rates, growth] = [[], []];
  for (let turn = 0; turn < rounds; turn += 1) {
    const { ms, grown } = await edit(scope, ready.url, megabytes * MEGABYTE);
    rates.push(megabytes / (ms / 1000));
    growth.push(grown / MEGABYTE);
    say(`round ${turn + 1} of ${rounds}`);
  }
  return {
    values: { megabytes, mbPerSecond: rates, growthMb: growth },
    table: {
      columns: ['upload', 'MB/s, median', 'memory growth, MB'],
      rows: [[`${megabytes} MB by media.editImage`, round(median(rates), 0), medianAndSpread(growth)]],
    },
    goals: [goal('memory growth, worst round', round(Math.max(...growth)), '<=', 120, 'MB')],
    notes: [
      'The file is hashed, copied into the store and sent from there. Time and memory include the copy.',
    ],
  };
}

async function edit(scope, url, bytes) {
  const folder = await scope.folder();
  const [small, large] = [path.join(folder, 'small.png'), path.join(folder, 'large.png')];
  await writePicture(small, MEGABYTE);
  await writePicture(large, bytes);
  const child = await startBenchChild(scope, 'transfers', {
    ...cleanEnvironment(),
    BENCH_URL: url,
    BENCH_FOLDER: folder,
  });
  await child.ask({ upload: small, key: 'warm-up' });
  const before = residentBytes(child.pid);
  const memory = watchMemory(child.pid);
  const { ms, received } = await child.ask({ upload: large, key: 'upload' });
  const grown = memory.stop() - before;
  if (received < bytes) throw new Error(`The server received ${received} of ${bytes} bytes.`);
  await child.stop();
  return { ms, grown };
}

/** Creates a file that begins like an image. */
async function writePicture(file, bytes) {
  const block = randomBytes(MEGABYTE);
  const handle = await open(file, 'wx');
  try {
    await handle.write(PNG);
    for (let left = bytes - PNG.length; left > 0; left -= block.length)
      await handle.write(block, 0, Math.min(left, block.length));
  } finally {
    await handle.close();
  }
}

module.exports = { title, run };
