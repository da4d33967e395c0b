'use strict';
const { execFile, execFileSync } = require('node:child_process');
const { promisify } = require('node:util');
const { setTimeout: delay } = require('node:timers/promises');

const run = promisify(execFile);
const COLUMNS = 110;
const ROWS = 50;
const PROMPT = '$ ';

/** Whether this machine can record. */
function hasTmux() {
  try {
    execFileSync('tmux', ['-V'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Real terminals in a separate tmux server, with the input and output that a person would type and see. */
class Terminal {
  #socket = `temporal-media-${process.pid}`;

  constructor({ cwd, env }) {
    this.cwd = cwd;
    this.env = { ...env, PS1: PROMPT, TERM: 'screen-256color', LANG: 'C.UTF-8' };
  }

  async open(window) {
    const first = this.started !== true;
    this.started = true;
    const size = ['-x', String(COLUMNS), '-y', String(ROWS)];
    const how = first ? ['new-session', '-d', '-s', 'first', ...size] : ['new-window', '-d', '-t', 'first'];
    const shell = ['env', '-i', ...Object.entries(this.env).map(([name, value]) => `${name}=${value}`)];
    await this.#tmux(...how, '-n', window, '-c', this.cwd, ...shell, 'bash', '--norc', '--noprofile');
    await this.until(window, /^\$ ?$/m, 10_000);
  }

  /** Types a command. Clears the screen first, so that a screen shows one command with all of its output. */
  async type(window, line) {
    await this.#tmux('send-keys', '-t', `first:${window}`, 'clear', 'Enter');
    while ((await this.screen(window, [])) !== '$') await delay(50);
    await this.#tmux('clear-history', '-t', `first:${window}`);
    await this.#tmux('send-keys', '-l', '-t', `first:${window}`, line);
    await this.#tmux('send-keys', '-t', `first:${window}`, 'Enter');
  }

  async press(window, key) {
    await this.#tmux('send-keys', '-t', `first:${window}`, key);
  }

  /** Returns what the window has shown since it was cleared, with long lines unwrapped. */
  async screen(window, from = ['-S', '-']) {
    const { stdout } = await this.#tmux('capture-pane', '-p', '-J', ...from, '-t', `first:${window}`);
    return stdout
      .split('\n')
      .map((line) => line.trimEnd())
      .join('\n')
      .trim();
  }

  /** Waits for a pattern on the screen. */
  async until(window, pattern, timeoutMs) {
    const end = Date.now() + timeoutMs;
    for (;;) {
      const screen = await this.screen(window);
      if (pattern.test(screen)) return screen;
      if (Date.now() > end)
        throw new Error(`${pattern} did not appear within ${timeoutMs / 1000} s:\n${screen}`);
      await delay(100);
    }
  }

  /** Waits until the command has ended and the prompt is shown again. */
  async untilPrompt(window, timeoutMs) {
    return this.until(window, /\n\$$/, timeoutMs);
  }

  async close() {
    await this.#tmux('kill-server').catch(() => undefined);
  }

  #tmux(...args) {
    return run('tmux', ['-L', this.#socket, ...args], { maxBuffer: 1 << 24 });
  }
}

module.exports = { Terminal, hasTmux };
