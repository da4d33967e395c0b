'use strict';
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { setTimeout: delay } = require('node:timers/promises');
const { STEPS } = require('./steps');
const { Terminal } = require('./terminal');

const MAIN = path.resolve(__dirname, '..', '..', 'packages', 'cli', 'lib', 'main.js');
const STEP_MS = 90_000;
/** The page shows this folder instead of the one in which the session really ran. */
const SHOWN_FOLDER = '/home/you/film';

/** Types every step in a new folder and returns each step's text and screen. */
async function record(onStep = () => undefined) {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'first-ten-minutes-')));
  const folder = path.join(root, 'film');
  fs.mkdirSync(folder);
  const terminal = new Terminal({ cwd: folder, env: environment(root) });
  try {
    await terminal.open('work');
    await terminal.open('dev');
    const recording = [];
    for (const step of STEPS) {
      onStep(step);
      const screen = (await play(terminal, step, folder))
        .replaceAll(folder, SHOWN_FOLDER)
        .replace(/\n\$$/, '');
      recording.push({
        say: step.say,
        screen: step.only === undefined ? screen : linesOf(screen, step.only),
      });
    }
    return recording;
  } finally {
    killAll(folder);
    await terminal.close();
    await removed(root);
  }
}

async function play(terminal, { window = 'work', type, until, press, kill }, folder) {
  if (kill === true) {
    killAll(folder);
    await terminal.untilPrompt(window, STEP_MS);
  }
  if (type !== undefined) await terminal.type(window, type);
  if (press !== undefined) await terminal.press(window, press);
  return until === undefined ? terminal.untilPrompt(window, STEP_MS) : terminal.until(window, until, STEP_MS);
}

/** Returns the command and these lines of its screen. */
function linesOf(screen, only) {
  const [command, ...lines] = screen.split('\n');
  const shown = lines.map((line) => (only.test(line) ? line : '…'));
  return [command, ...shown.filter((line, at) => line !== '…' || shown[at - 1] !== '…')].join('\n');
}

/**
 * Returns an environment like after an installation: the command is on PATH, and this machine's settings do not leak
 * in.
 */
function environment(root) {
  const bin = path.join(root, 'bin');
  fs.mkdirSync(bin);
  fs.writeFileSync(
    path.join(bin, 'temporal-media'),
    `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`,
    {
      mode: 0o755,
    },
  );
  const { HOME = '/', PATH = '', TEMPORAL_CLI_PATH } = process.env;
  return { HOME, PATH: `${bin}:${PATH}`, ...(TEMPORAL_CLI_PATH && { TEMPORAL_CLI_PATH }) };
}

/** Sends SIGKILL to `dev` in this folder and everything it runs, `dev` first, so that nothing shuts down gracefully. */
function killAll(folder) {
  let state;
  try {
    state = JSON.parse(fs.readFileSync(path.join(folder, '.data', 'dev.json'), 'utf8'));
  } catch {
    return;
  }
  for (const pid of [state.pid, ...Object.values(state.pids)]) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // Already ended.
    }
  }
}

/** Removes the folder, with retries, because killed processes release their files a moment later. */
async function removed(root) {
  for (let tries = 0; tries < 20; tries += 1) {
    try {
      return fs.rmSync(root, { recursive: true, force: true });
    } catch {
      await delay(250);
    }
  }
}

module.exports = { record };
