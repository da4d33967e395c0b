import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type ManyInput, type ManyResult } from './run-many';

/** Runs seeds in a thread of its own: outside of jest the same schedules take half the time. */
export function inThread(input: ManyInput): Promise<ManyResult> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(join(__dirname, 'thread.js'), { workerData: input });
    worker.once('message', (result: ManyResult) => resolve(result));
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`A thread of the simulation ended with ${code}.`)));
  });
}

/** All seeds from `from` on, shared among two threads where there are two processors. */
export async function inThreads(from: number, schedules: number): Promise<ManyResult> {
  const step = Math.min(2, availableParallelism());
  const results = await Promise.all(
    Array.from({ length: step }, (_, first) =>
      inThread({ from: from + first, below: from + schedules, step }),
    ),
  );
  const counts: Record<string, number> = {};
  for (const result of results)
    for (const [what, count] of Object.entries(result.counts)) counts[what] = (counts[what] ?? 0) + count;
  const broken = results.flatMap((result) => result.broken).sort((a, b) => a.seed - b.seed);
  return { counts, broken, trace: [], found: {} };
}
