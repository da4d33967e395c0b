'use strict';
// Runs the compiled command line again and again in one process, because loading it is three quarters of the work of a
// short command. One run at a time, with its own arguments, environment and folder; signals reach it as they reach a
// process of its own.
const { AsyncLocalStorage } = require('node:async_hooks');
const { Buffer } = require('node:buffer');
const path = require('node:path');

const MAIN = path.resolve(__dirname, '..', '..', '..', 'packages', 'cli', 'lib', 'main.js');
/** The run that writes: what an ended one still writes must not be taken for the output of the next. */
const runs = new AsyncLocalStorage();
const home = process.cwd();

for (const name of ['stdout', 'stderr']) {
  process[name].setMaxListeners(0);
  process[name].write = (chunk, encoding, done) => {
    const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8');
    process.send({ run: runs.getStore(), stream: name, text });
    const written = typeof encoding === 'function' ? encoding : done;
    if (written !== undefined) process.nextTick(written);
    return true;
  };
}

process.exit = (code) => {
  for (const signal of ['SIGINT', 'SIGTERM']) process.removeAllListeners(signal);
  process.send({ run: runs.getStore(), code: code ?? process.exitCode ?? 0 });
};

process.on('message', ({ run, args, env, cwd }) => {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd ?? home);
  process.argv = [process.execPath, MAIN, ...args];
  // Only the program itself is loaded anew: it begins when it is loaded.
  delete require.cache[MAIN];
  runs.run(run, () => require(MAIN));
});
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
