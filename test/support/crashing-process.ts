import { join } from 'node:path';
import { TemporalMediaClient } from '../../src/client';
import { type MediaStack, type RunningWorker } from './media-stack';
import { startWorkerProcess } from './worker-process';

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

/** Starts a worker process that kills itself once an outcome is recorded, or is killed by the test. */
export async function startCrashingWorker(stack: MediaStack, at?: 'after_outcome'): Promise<CrashingWorker> {
  const taskQueue = stack.server.uniqueId('crash');
  const env = {
    MEDIA_TASK_QUEUE: taskQueue,
    MEDIA_JOURNAL: join(stack.dataDir, taskQueue, 'journal'),
  };
  const script = join(__dirname, 'crashing-worker.js');
  const worker = await startWorkerProcess(stack, script, { ...env, CRASH_AT: at ?? '' });
  const gone = worker.gone.then((how) => {
    if (how !== 'SIGKILL') throw new Error(`The worker process ended by ${how}.`);
  });
  gone.catch(() => undefined);
  return {
    media: new TemporalMediaClient(stack.server.client, { taskQueue }),
    gone,
    kill: async () => {
      worker.signal('SIGKILL');
      await gone;
    },
    startSuccessor: () => stack.startWorker({ env }),
  };
}
