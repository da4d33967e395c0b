import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';

/** Processes that serve all test files of a run, by the variable that holds their address. */
const SCRIPTS = {
  TEST_SANDBOX_HOST: path.join(__dirname, 'sandbox-host.js'),
  TEST_COMMAND_HOST: path.join(__dirname, '..', 'cli', 'support', 'command-host.js'),
};
export const SANDBOX_HOST = 'TEST_SANDBOX_HOST';
export const COMMAND_HOST = 'TEST_COMMAND_HOST';

/** Starts them, for the global set-up. They end with this process, however that ends. */
export async function startTestHosts(): Promise<readonly ChildProcess[]> {
  return Promise.all(
    Object.entries(SCRIPTS).map(async ([variable, script]) => {
      const host = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
      process.env[variable] = await new Promise<string>((resolve, reject) => {
        createInterface({ input: host.stdout }).once('line', resolve);
        host.once('exit', (code) => reject(new Error(`${path.basename(script)} ended with code ${code}.`)));
      });
      return host;
    }),
  );
}
