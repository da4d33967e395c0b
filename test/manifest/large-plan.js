'use strict';
// Plans a manifest of many rows in a process of its own and prints how much memory that took. argv: rows, format, ids.
const { Buffer } = require('node:buffer');
const { planManifest } = require('../../lib/manifest/plan-manifest.js');

const [rows, format, ids] = process.argv.slice(2);
const PIECE = 64 * 1024;
const entry = {
  id: 'cine-1',
  kind: 'video',
  durations: [4],
  price: { per: 'second', microUnits: 50_000, currency: 'USD' },
};
const REF = { uri: '', mediaType: '', bytes: 0, sha256: '0'.repeat(64) };
const sink = {
  putBuffer: async () => REF,
  putStream: async (source) => {
    source.resume();
    return REF;
  },
};

function line(number) {
  const prompt = `A ship in a storm, number ${number}: ${'the sea is high, and the light is low; '.repeat(6)}`;
  const id = ids === 'ids' ? `row-${number}` : '';
  return format === 'csv'
    ? `${id},cine-1,"${prompt}",4\n`
    : `${JSON.stringify({ ...(id && { id }), model: 'cine-1', prompt, duration: 4 })}\n`;
}

async function* bytes(count) {
  let text = format === 'csv' ? 'id,model,prompt,duration\n' : '';
  for (let number = 0; number < count; number += 1) {
    text += line(number);
    if (text.length < PIECE) continue;
    yield Buffer.from(text);
    text = '';
  }
  yield Buffer.from(text);
}

async function plan(count) {
  let most = 0;
  const result = await planManifest({
    campaign: 'large',
    open: () => bytes(count),
    models: { lookup: async () => ({ found: 'entry', entry }) },
    store: {},
    sink,
    select: { rows: 'missing' },
    onInvalid: 'fail',
    rebuyChanged: false,
    generation: 0,
    onProgress: () => {
      most = Math.max(most, process.memoryUsage.rss());
    },
  });
  return { planned: result.planned, pages: result.pages, most };
}

async function main() {
  // What code and buffers need for any manifest is there after this one.
  const { most: before } = await plan(20_000);
  const { planned, pages, most } = await plan(Number(rows));
  console.log(JSON.stringify({ planned, pages, growth: most - before, most }));
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
