import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { HistorySources, type NamedTarget } from './load-targets';
import { quietRuntime } from './quiet-runtime';
import { type ReplayRequest, reportTargets } from './target-report';
import { sentOf, sentError, type ThreadMessage } from './thread-messages';

// Entry of a thread that replays: asks for a name, loads and replays what it names, posts what is said about it.
const request = workerData as ReplayRequest;
const port = parentPort as NonNullable<typeof parentPort>;
const post = (message: ThreadMessage): void => port.postMessage(message);

async function* names(): AsyncGenerator<NamedTarget> {
  for (;;) {
    const answer = once(port, 'message');
    post({ ask: true });
    const [named] = (await answer) as [NamedTarget | null];
    if (named === null) return;
    yield named;
  }
}

async function replayAll(): Promise<void> {
  quietRuntime();
  const sources = new HistorySources(request, request.options);
  for await (const report of reportTargets(request, sources, names())) post({ report: sentOf(report) });
}

replayAll().then(
  () => post({ done: true }),
  (error: unknown) => post({ failed: sentError(error) }),
);
