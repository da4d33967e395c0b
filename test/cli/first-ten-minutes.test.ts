import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';

const SCRIPT = path.resolve(__dirname, '..', '..', 'scripts', 'first-ten-minutes.js');
const { hasTmux } = createRequire(SCRIPT)('./first-ten-minutes/terminal.js') as { hasTmux: () => boolean };

// The recording is of real terminals; where there is no tmux the commands are still tested one by one beside this file.
const inTerminals = hasTmux() ? test : test.skip;

inTerminals(
  'the recorded session of docs/first-ten-minutes.md is what the program says, typed again into real terminals',
  async () => {
    const run = promisify(execFile)(process.execPath, [SCRIPT, '--check']);
    const { stdout } = await run.catch((error: { stdout: string; stderr: string }) => {
      throw new Error(`${error.stdout}\n${error.stderr}`);
    });
    expect(stdout).toContain("The page matches the program's output.");
  },
  300_000,
);
