import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type UnloadedTarget } from '../../replay/history-folder';
import { CliError } from '../errors';
import { HistorySources, type NamedTarget } from './load-targets';
import { type ReplayRequest, reportTargets, type TargetReport } from './target-report';
import { receivedError, receivedReport, type ThreadMessage } from './thread-messages';

/** Each thread keeps its own copy of the workflow code and one history, 100 MiB and more: not more than this unless asked. */
const MOST_BY_DEFAULT = 4;
/** Below this number of targets for each, a thread costs more than it saves: it takes a second to start. */
const TARGETS_EACH = 25;

/** Replays leave much garbage behind: a larger space for it costs memory and saves no time. */
const YOUNG_MB = 12;

/** How many replay at once. */
export interface PoolOptions {
  /** At most so many, this thread included. @default one for each processor, up to 4, where there are many targets */
  readonly concurrency?: number;
  /** Compiled code of a thread; where it is no file, as in a bundle of the caller, this thread replays all. */
  readonly entry?: string;
}

/**
 * Loads and replays what a command names, in this thread and, where it is much, in others beside it. Reports come in the
 * order of the names, whichever thread made them.
 * @throws CliError when a thread ends before its time, with the name of what it replayed
 */
export async function* replayInPool(
  request: ReplayRequest,
  { concurrency, entry = join(__dirname, 'replay-thread.js') }: PoolOptions = {},
): AsyncGenerator<TargetReport | UnloadedTarget> {
  const sources = new HistorySources(request, request.options);
  const most = existsSync(entry) ? (concurrency ?? Math.min(availableParallelism(), MOST_BY_DEFAULT)) : 1;
  const each = concurrency === undefined ? TARGETS_EACH : 1;
  const names = new Names(sources.names(request.targets));
  const members = Math.max(1, Math.min(most, Math.floor((await names.atLeast(most * each)) / each)));
  const reports = new InOrder<TargetReport | UnloadedTarget>();
  const threads = Array.from({ length: members - 1 }, () => new ReplayThread(entry, request, names, reports));
  const all = [replayHere(request, sources, names, reports), ...threads.map((thread) => thread.ended)];
  void Promise.all(all).then(
    () => reports.end(),
    (error: unknown) => reports.fail(error),
  );
  try {
    yield* reports.values();
  } finally {
    names.stop();
    await Promise.all(threads.map((thread) => thread.close()));
  }
}

interface Dealt {
  readonly index: number;
  readonly named: NamedTarget;
}

/** Deals out names, each once. */
class Names {
  readonly #ahead: NamedTarget[] = [];
  #dealt = 0;
  #stopped = false;

  constructor(private readonly names: AsyncIterator<NamedTarget>) {}

  /** How many there are, counted up to this number. */
  async atLeast(count: number): Promise<number> {
    while (this.#ahead.length < count) {
      const next = await this.names.next();
      if (next.done === true) break;
      this.#ahead.push(next.value);
    }
    return this.#ahead.length;
  }

  async take(): Promise<Dealt | undefined> {
    const named = this.#ahead.shift() ?? (await this.#next());
    return named === undefined || this.#stopped ? undefined : { index: this.#dealt++, named };
  }

  async #next(): Promise<NamedTarget | undefined> {
    // A generator answers calls in their order, so that numbers follow the order of names.
    const next = await this.names.next();
    return next.done === true ? undefined : next.value;
  }

  stop(): void {
    this.#stopped = true;
  }
}

/** Passes values on in the order of their numbers. */
class InOrder<Value> {
  readonly #waiting = new Map<number, Value>();
  #next = 0;
  #ended = false;
  #failure: { readonly error: unknown } | undefined;
  #wake: () => void = () => undefined;

  put(index: number, value: Value): void {
    this.#waiting.set(index, value);
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  fail(error: unknown): void {
    this.#failure = { error };
    this.#wake();
  }

  async *values(): AsyncGenerator<Value> {
    for (;;) {
      const value = this.#waiting.get(this.#next);
      if (value !== undefined) {
        this.#waiting.delete(this.#next);
        this.#next += 1;
        yield value;
      } else if (this.#failure !== undefined) throw this.#failure.error;
      else if (this.#ended) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

/** The share of this thread. */
async function replayHere(
  request: ReplayRequest,
  sources: HistorySources,
  names: Names,
  reports: InOrder<TargetReport | UnloadedTarget>,
): Promise<void> {
  const dealt: Dealt[] = [];
  async function* own() {
    for (let next = await names.take(); next !== undefined; next = await names.take()) {
      dealt.push(next);
      yield next.named;
    }
  }
  for await (const report of reportTargets(request, sources, own()))
    reports.put((dealt.shift() as Dealt).index, report);
}

/** The share of another thread, which asks for each name and answers in the order in which it got them. */
class ReplayThread {
  readonly ended: Promise<void>;
  readonly #worker: Worker;
  readonly #dealt: Dealt[] = [];

  constructor(
    entry: string,
    request: ReplayRequest,
    names: Names,
    reports: InOrder<TargetReport | UnloadedTarget>,
  ) {
    const worker = new Worker(entry, {
      workerData: { ...request, env: { ...request.env } },
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    this.#worker = worker;
    this.ended = new Promise((resolve, reject) => {
      const deal = async (): Promise<void> => {
        const next = await names.take();
        if (next !== undefined) this.#dealt.push(next);
        worker.postMessage(next?.named ?? null);
      };
      worker.on('message', (message: ThreadMessage) => {
        if ('ask' in message) deal().catch(reject);
        else if ('done' in message) resolve();
        else if ('failed' in message) reject(receivedError(message.failed));
        else reports.put((this.#dealt.shift() as Dealt).index, receivedReport(message.report));
      });
      worker.on('error', (error) => reject(this.#lost(error.message)));
      worker.on('exit', (code) => reject(this.#lost(`it ended with code ${code}.`)));
    });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #lost(why: string): CliError {
    const last = this.#dealt.at(-1)?.named;
    const which = last === undefined ? 'before its first history' : `while it replayed ${nameOf(last)}`;
    return new CliError('unexpected', `A thread of the replay stopped ${which}: ${why}`, {
      hint: 'Replay this one alone, or all with --concurrency 1, which needs less memory.',
    });
  }
}

function nameOf(named: NamedTarget): string {
  if ('file' in named) return named.file;
  if ('chain' in named) return named.chain.join(', ');
  return 'workflow' in named ? named.workflow : `${named.run.workflowId}, run ${named.run.runId}`;
}
