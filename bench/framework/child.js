'use strict';
// A process of a benchmark's own, so that its CPU and memory are its own. It ends with the channel to this one.
const { spawn } = require('node:child_process');
const { once } = require('node:events');
const path = require('node:path');

/** Starts bench/children/NAME.js. `ready` is what it sends first; `ask` sends a message and waits for the next one. */
async function startBenchChild(scope, name, env) {
  const child = spawn(process.execPath, [path.join(__dirname, '..', 'children', `${name}.js`)], {
    stdio: ['ignore', 2, 2, 'ipc'],
    env,
  });
  const exited = once(child, 'exit');
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await exited;
  };
  scope.defer(stop);
  const answer = async () => {
    const [message] = await Promise.race([
      once(child, 'message'),
      exited.then(([code, signal]) => {
        throw new Error(`The child ${name} ended (${signal ?? code}).`);
      }),
    ]);
    if (message.error !== undefined) throw new Error(`${name}: ${message.error}`);
    return message;
  };
  const ready = await answer();
  const ask = (message) => {
    const answered = answer();
    child.send(message);
    return answered;
  };
  return { pid: child.pid, ready, ask, stop };
}

module.exports = { startBenchChild };
