'use strict';
// Replays a thousand histories of videos polled for 15 minutes with one command: time and memory.
const { spawn } = require('node:child_process');
const { once } = require('node:events');
const { writeFileSync } = require('node:fs');
const path = require('node:path');
const { clearInterval, setInterval } = require('node:timers');
const { goal } = require('../framework/goal.js');
const { longHistory } = require('../framework/long-history.js');
const { cleanEnvironment } = require('../framework/media-stack.js');
const { cpuMs, residentBytes } = require('../framework/process-usage.js');
const { round } = require('../framework/statistics.js');

const title = 'replaying a thousand histories of 225 polls each with one command';
const MAIN = path.resolve(__dirname, '../../packages/cli/lib/main.js');
const POLLS = 225;
const ID = 'bench-replay';
const MIB = 1024 * 1024;

async function run({ scope, say, quick }) {
  const count = quick ? 20 : 1_000;
  const folder = await scope.folder();
  // The id stands once in a history.
  const [before, after] = JSON.stringify(longHistory(POLLS, ID)).split(ID);
  for (let n = 0; n < count; n += 1) {
    const id = `${ID}-${String(n).padStart(4, '0')}`;
    writeFileSync(path.join(folder, `${id}.json`), `${before}${id}${after}`);
  }
  say(`${count} histories written`);
  const startedAt = performance.now();
  const child = spawn(process.execPath, [MAIN, 'replay', folder, '-o', 'json'], {
    env: cleanEnvironment(),
    stdio: ['ignore', 'pipe', 2],
  });
  scope.defer(() => void child.kill('SIGKILL'));
  const samples = [];
  let cpu = 0;
  const look = () => {
    try {
      samples.push(residentBytes(child.pid) / MIB);
      cpu = cpuMs(child.pid);
    } catch {
      // It has ended.
    }
  };
  const timer = setInterval(look, 500);
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part) => (text += part));
  const [code] = await once(child, 'close');
  clearInterval(timer);
  const seconds = (performance.now() - startedAt) / 1000;
  const { ok, data } = JSON.parse(text);
  if (code !== 0 || !ok || data.summary.identical !== count)
    throw new Error(`Not all histories replay: ${JSON.stringify(data?.summary)}.`);
  return figures({
    count,
    seconds,
    cpu,
    events: data.summary.events,
    samples: samples.filter((one) => one > 0),
  });
}

function figures({ count, seconds, cpu, events, samples }) {
  const half = samples.slice(Math.floor(samples.length / 2));
  const quarter = samples.slice(Math.floor(samples.length / 4), Math.floor(samples.length / 2));
  const most = Math.max(...samples);
  const values = {
    histories: count,
    events,
    seconds: round(seconds, 1),
    cpuMsEach: round(cpu / count, 0),
    mostMiB: round(most, 0),
    // The same means that memory does not grow with the number of histories.
    secondQuarterMiB: round(Math.max(...quarter), 0),
    secondHalfMiB: round(Math.max(...half), 0),
  };
  return {
    values,
    table: {
      columns: ['histories', 'events', 'seconds', 'CPU each, ms', 'peak memory, MiB', 'second half, MiB'],
      rows: [[count, events, values.seconds, values.cpuMsEach, values.mostMiB, values.secondHalfMiB]],
    },
    goals: [
      goal('all histories', values.seconds, '<=', 60, 's'),
      goal('peak memory', values.mostMiB, '<=', 300, 'MiB'),
    ],
  };
}

module.exports = { title, run };
