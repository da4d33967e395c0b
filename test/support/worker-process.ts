import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type MediaStack } from './media-stack';
import { testBundlePath } from './test-bundle';

/** Enough for a start on a loaded machine. */
const SAID_WITHIN_MS = 120_000;

/** A worker in a process of its own, to be signalled. */
export interface WorkerProcess {
  readonly pid: number;
  /** Resolves with the signal or the exit code that ended the process. */
  readonly gone: Promise<NodeJS.Signals | number>;
  /** Resolves when the process has written this line. @throws Error when it is gone without, or silent for two minutes */
  said(line: string): Promise<void>;
  signal(signal: NodeJS.Signals): void;
}

/**
 * Starts a worker script with the environment of a stack, and waits for its line `ready`. The script may watch its
 * standard input: that ends with this process.
 * @param script path of a JavaScript file
 */
export async function startWorkerProcess(
  stack: MediaStack,
  script: string,
  env: Record<string, string>,
): Promise<WorkerProcess> {
  const child = spawn(process.execPath, [script], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...stack.env, ...env, WORKFLOW_BUNDLE: await testBundlePath() },
  });
  const gone = once(child, 'exit').then(([code, signal]) => (signal ?? code) as NodeJS.Signals | number);
  const lines = new Set<string>();
  const output = createInterface({ input: child.stdout });
  output.setMaxListeners(0);
  output.on('line', (line) => lines.add(line));
  const worker: WorkerProcess = {
    pid: child.pid ?? 0,
    gone,
    said: (line) =>
      new Promise((resolve, reject) => {
        const fail = (why: string) => reject(new Error(`The worker process ${why} without "${line}".`));
        const limit = setTimeout(() => fail(`ran ${SAID_WITHIN_MS} ms`), SAID_WITHIN_MS);
        const look = () => {
          if (!lines.has(line)) return;
          clearTimeout(limit);
          output.off('line', look);
          resolve();
        };
        output.on('line', look);
        void gone.then((how) => {
          clearTimeout(limit);
          fail(`ended (${how})`);
        });
        look();
      }),
    signal: (signal) => void child.kill(signal),
  };
  await worker.said('ready');
  return worker;
}
