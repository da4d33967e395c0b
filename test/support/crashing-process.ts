import { join } from 'node:path';
import { TemporalMediaClient } from '../../src/client';
import { type MediaStack, type RunningWorker } from './media-stack';
import { startWorkerProcess } from './worker-process';

/** A queue with a journal of its own whose first worker is a process that dies. */
export interface CrashingWorker {
  readonly media: TemporalMediaClient;
  /** Resolves when the process is gone. */
  readonly gone: Promise<void>;
  readonly taskQueue: string;
  /** Folder of its journal. */
  readonly journal: string;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** A second worker, in this process, on the same queue, and on the same journal unless another is named. */
  startSuccessor(options?: { readonly journal?: string; readonly rebind?: boolean }): Promise<RunningWorker>;
}

/** Starts a worker process that kills itself once an outcome is recorded, or is killed by the test. */
export async function startCrashingWorker(
  stack: MediaStack,
  at?: 'after_outcome',
  own: Record<string, string> = {},
): Promise<CrashingWorker> {
  const taskQueue = stack.server.uniqueId('crash');
  const journal = join(stack.dataDir, taskQueue, 'journal');
  const env = { ...own, MEDIA_TASK_QUEUE: taskQueue, MEDIA_JOURNAL: journal };
  const script = join(__dirname, 'crashing-worker.js');
  const worker = await startWorkerProcess(stack, script, { ...env, CRASH_AT: at ?? '' });
  const gone = worker.gone.then((how) => {
    if (how !== 'SIGKILL') throw new Error(`The worker process ended by ${how}.`);
  });
  gone.catch(() => undefined);
  return {
    media: new TemporalMediaClient(stack.server.client, { taskQueue }),
    gone,
    taskQueue,
    journal,
    kill: async () => {
      worker.signal('SIGKILL');
      await gone;
    },
    startSuccessor: ({ journal: other = journal, rebind } = {}) =>
      stack.startWorker({
        env: { ...env, MEDIA_JOURNAL: other },
        ...(rebind === undefined ? {} : { rebind }),
      }),
  };
}
