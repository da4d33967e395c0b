import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { TemporalMediaClient } from '../../src/client';
import { type MediaStack, type RunningWorker } from './media-stack';
import { testBundlePath } from './test-bundle';

export type CrashPoint = 'before_slot' | 'after_slot' | 'after_outcome';

/** A queue with a journal of its own whose first worker is a process that dies. */
export interface CrashingWorker {
  readonly media: TemporalMediaClient;
  /** Resolves when the process is gone. */
  readonly gone: Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** A second worker, in this process, on the same queue and journal. */
  startSuccessor(): Promise<RunningWorker>;
}

/** Starts a worker process that kills itself at a point of the journal, or is killed by the test. */
export async function startCrashingWorker(stack: MediaStack, at?: CrashPoint): Promise<CrashingWorker> {
  const taskQueue = stack.server.uniqueId('crash');
  const env = {
    MEDIA_TASK_QUEUE: taskQueue,
    MEDIA_JOURNAL: join(stack.dataDir, taskQueue, 'journal'),
  };
  const child = spawn(process.execPath, [join(__dirname, 'crashing-worker.js')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      ...stack.env,
      ...env,
      CRASH_AT: at ?? '',
      WORKFLOW_BUNDLE: await testBundlePath(),
    },
  });
  const exit = once(child, 'exit');
  const [first] = (await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    exit,
  ])) as unknown[];
  if (first !== 'ready') throw new Error('The worker process ended before it ran.');
  const gone = exit.then(([, signal]) => {
    if (signal !== 'SIGKILL') throw new Error(`The worker process ended by ${String(signal)}.`);
  });
  gone.catch(() => undefined);
  return {
    media: new TemporalMediaClient(stack.server.client, { taskQueue }),
    gone,
    kill: async () => {
      child.kill('SIGKILL');
      await gone;
    },
    startSuccessor: () => stack.startWorker({ env }),
  };
}
