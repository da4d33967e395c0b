import { parentPort, workerData } from 'node:worker_threads';
import { failureOf } from '../shared/errors';
import { quietRuntime } from './code';
import { type NamedTarget } from './load-targets';
import { type ReplayRequest, Reporter, sentReport, type ThreadMessage } from './target-report';

// Entry point of a replay thread: loads and replays each name that it receives, and posts the report.
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
