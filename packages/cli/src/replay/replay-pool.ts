import { EventEmitter, once } from 'node:events';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type UnloadedTarget } from '@temporal-media/replay';
import { CliError } from '../shared/errors';
import { type NamedTarget } from './load-targets';
import {
  receivedReport,
  type ReplayRequest,
  Reporter,
  type SentReport,
  type TargetReport,
  type ThreadMessage,
} from './target-report';

/** Default maximum number of threads. Each needs 100 MiB or more for its copy of the workflow code and one history. */
const MOST_BY_DEFAULT = 4;
/** With fewer targets per thread, an extra thread costs more than it saves, because it takes a second to start. */
const TARGETS_EACH = 25;

/** Replays create a lot of garbage. A larger young generation would use more memory without saving time. */
const YOUNG_MB = 12;

/** Options for a replay pool. */
export interface PoolOptions {
  /** Maximum number of threads, including this one. @default one per processor, up to 4, if there are many targets */
  readonly concurrency?: number;
  /** The thread's entry file. If it does not exist, as in a caller's bundle, this thread replays everything. */
  readonly entry?: string;
}

type Report = TargetReport | UnloadedTarget;

/** This thread or another one. Each replays one target at a time. */
type Member = Pick<Reporter, 'report' | 'close'>;

/**
 * Loads and replays a command's targets in this thread and, if there are many, in other threads. Yields reports in the
 * order of the names, no matter which thread created them.
 * @throws CliError when a thread ends early; the error names the target that it was replaying
 */
export async function* replayInPool(
  request: ReplayRequest,
  { concurrency, entry = join(__dirname, 'replay-thread.js') }: PoolOptions = {},
): AsyncGenerator<Report> {
  const here = new Reporter(request);
  const most = existsSync(entry) ? (concurrency ?? Math.min(availableParallelism(), MOST_BY_DEFAULT)) : 1;
  const each = concurrency === undefined ? TARGETS_EACH : 1;
  const names = here.names();
  const ahead = await firstOf(names, most * each);
  const others = Math.max(1, Math.min(most, Math.floor(ahead.length / each))) - 1;
  const threads = Array.from({ length: others }, () => new ReplayThread(entry, request));

  const reports = new Map<number, Report>();
  const made = new EventEmitter();
  let dealt = 0;
  let isOver = false;
  async function replayNames(member: Member): Promise<void> {
    for (;;) {
      // A generator answers calls in order, so the numbers follow the order of the names.
      const named = ahead.shift() ?? (await names.next()).value;
      if (named === undefined || isOver) break;
      const index = dealt;
      dealt += 1;
      reports.set(index, await member.report(named));
      made.emit('report');
    }
    await member.close();
  }
  const all = Promise.all([here, ...threads].map(replayNames)).then(() => (isOver = true));
  // The failure is rethrown below, by the wait for the missing report.
  all.catch(() => undefined);
  try {
    for (let next = 0; !isOver || reports.size > 0;) {
      const report = reports.get(next);
      if (report === undefined) await Promise.race([once(made, 'report'), all]);
      else {
        reports.delete(next);
        next += 1;
        yield report;
      }
    }
  } finally {
    isOver = true;
    await Promise.all(threads.map((thread) => thread.end()));
  }
}

async function firstOf<Value>(values: AsyncIterator<Value>, count: number): Promise<Value[]> {
  const found: Value[] = [];
  while (found.length < count) {
    const next = await values.next();
    if (next.done === true) break;
    found.push(next.value);
  }
  return found;
}

/** A replay thread. */
class ReplayThread implements Member {
  readonly #worker: Worker;
  /** Resolves with the reason when the thread ends. */
  readonly #ended: Promise<string>;

  constructor(entry: string, request: ReplayRequest) {
    const worker = new Worker(entry, {
      workerData: { ...request, env: { ...request.env } },
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    this.#worker = worker;
    this.#ended = new Promise((resolve) => {
      worker.on('error', (error) => resolve(error.message));
      worker.on('exit', (code) => resolve(`it exited with code ${code}.`));
    });
  }

  async report(named: NamedTarget): Promise<Report> {
    const { report } = await this.#answer(named);
    return receivedReport(report as SentReport);
  }

  /** Lets the thread finish its current target. */
  async close(): Promise<void> {
    await this.#answer(null);
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  async #answer(named: NamedTarget | null): Promise<ThreadMessage> {
    const message = new Promise<ThreadMessage>((resolve) => this.#worker.once('message', resolve));
    this.#worker.postMessage(named);
    const answer = await Promise.race([message, this.#ended]);
    if (typeof answer !== 'string') {
      if (answer.failed !== undefined) throw CliError.from(answer.failed);
      return answer;
    }
    const which = named === null ? 'after its last history' : `while it replayed ${nameOf(named)}`;
    throw new CliError('unexpected', `A replay thread stopped ${which}: ${answer}`, {
      hint: 'Replay this target alone, or replay all with --concurrency 1, which needs less memory.',
    });
  }
}

function nameOf(named: NamedTarget): string {
  if ('file' in named) return named.file;
  if ('chain' in named) return named.chain.join(', ');
  return 'workflow' in named ? named.workflow : `${named.run.workflowId}, run ${named.run.runId}`;
}
