'use strict';
// Runs the commands of all test files of a run in a few processes that have loaded the command line: loading it is three
// quarters of the work of a short command. `POST /` with `{args, env, cwd}` answers `{code, stdout, stderr}` when the
// command has ended; `code` is null when its process died. Prints its own address in one line, and ends with its
// standard input.
const { fork } = require('node:child_process');
const { createServer } = require('node:http');
const path = require('node:path');
const { json } = require('node:stream/consumers');

const RUNNER = path.join(__dirname, 'cli-host.js');
/** Commands that run at once: most of them wait for a worker. */
const RUNNERS = 6;
/** Then another process starts all the same: one command may wait for what the next one does. */
const MAX_WAIT_MS = 2_000;

/** Processes that run nothing at the moment. */
const idle = [];
/** Commands that wait for one. */
const waiting = [];
let started = 0;
let runs = 0;

function start() {
  started += 1;
  return fork(RUNNER, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
}

function freeRunner() {
  const runner = idle.pop();
  if (runner !== undefined) return runner;
  if (started < RUNNERS) return start();
  return new Promise((resolve) => {
    const take = (freed) => {
      clearTimeout(late);
      resolve(freed);
    };
    const late = setTimeout(() => {
      waiting.splice(waiting.indexOf(take), 1);
      resolve(start());
    }, MAX_WAIT_MS);
    waiting.push(take);
  });
}

function release(runner) {
  const next = waiting.shift();
  if (next === undefined) idle.push(runner);
  else next(runner);
}

async function runCommand(command) {
  const runner = await freeRunner();
  const run = (runs += 1);
  const text = { stdout: '', stderr: '' };
  return new Promise((resolve) => {
    const onMessage = (message) => {
      if (message.run !== run) return;
      if ('text' in message) text[message.stream] += message.text;
      else end(message.code);
    };
    const onExit = () => end(null);
    const end = (code) => {
      runner.off('message', onMessage).off('exit', onExit);
      if (code === null) started -= 1;
      else release(runner);
      resolve({ code, ...text });
    };
    runner.on('message', onMessage).on('exit', onExit);
    runner.send({ run, ...command });
  });
}

const server = createServer((request, response) => {
  json(request)
    .then(runCommand)
    .then((ended) => response.end(JSON.stringify(ended)))
    .catch((error) => response.writeHead(500).end(String(error?.stack ?? error)));
});
// A command may wait as long as its test.
server.requestTimeout = 0;
// Only the client closes a connection: one that the server closes may be the one of the next request.
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}\n`);
});
process.stdin.on('end', () => process.exit(0)).resume();
