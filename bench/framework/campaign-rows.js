'use strict';
// Manifests whose videos end one after the other at a wanted rate, while a wanted number is in flight.
const { createWriteStream } = require('node:fs');
const { once } = require('node:events');

/** In the 3 to 5 s family, and the content endpoint hands out the bytes itself. */
const MODEL = 'motion-omni';

/**
 * `count` rows. A video runs for `inFlight / rate` seconds; of the first `inFlight`, which are started as fast as a
 * campaign does, each runs for its share of that, so that they end at the wanted rate from `leadSeconds` on.
 * @param startsPerSecond how fast the first ones are started
 */
function* flowRows({ inFlight, rate, count, leadSeconds, startsPerSecond }) {
  const whole = inFlight / rate;
  for (let n = 0; n < count; n += 1) {
    const seconds = n < inFlight ? leadSeconds + (n + 1) / rate - n / startsPerSecond : whole;
    yield { id: `v-${n}`, model: MODEL, prompt: promptOf(n, seconds), duration: 3, resolution: '480p' };
  }
}

/** `count` rows that are ready at their first poll. */
function* quickRows(count) {
  for (let n = 0; n < count; n += 1)
    yield { id: `v-${n}`, model: MODEL, prompt: promptOf(n, 0), duration: 3, resolution: '480p' };
}

function promptOf(n, seconds) {
  return `[queue:0s] [run:${seconds.toFixed(1)}s] a kite over the sea, number ${n}`;
}

async function writeManifest(file, rows) {
  const out = createWriteStream(file);
  for (const row of rows) if (!out.write(`${JSON.stringify(row)}\n`)) await once(out, 'drain');
  out.end();
  await once(out, 'finish');
}

module.exports = { flowRows, MODEL, promptOf, quickRows, writeManifest };
