import { parentPort, workerData } from 'node:worker_threads';
import { failureOf } from '../shared/errors';
import { quietRuntime } from './code';
import { type NamedTarget } from './load-targets';
import { type ReplayRequest, Reporter, sentReport, type ThreadMessage } from './target-report';

// Entry of a thread that replays: loads and replays each name that it gets, and posts what is said about it.
quietRuntime();
const reporter = new Reporter(workerData as ReplayRequest);

async function answer(named: NamedTarget | null): Promise<ThreadMessage> {
  if (named !== null) return { report: sentReport(await reporter.report(named)) };
  await reporter.close();
  return { done: true };
}

parentPort?.on('message', (named: NamedTarget | null) => {
  void answer(named)
    .catch((error: unknown): ThreadMessage => ({ failed: failureOf(error).reply }))
    .then((message) => parentPort?.postMessage(message));
});
