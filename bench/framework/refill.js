'use strict';
const { setTimeout } = require('node:timers/promises');

/** Starts as many videos as end, one after the other, until `ends`. @param rate starts per second */
async function refill(ends, rate, start) {
  const startedAt = Date.now();
  for (let n = 0; Date.now() < ends; n += 1) {
    await setTimeout(Math.max(0, startedAt + (n * 1000) / rate - Date.now()));
    if (Date.now() < ends) await start();
  }
}

module.exports = { refill };
