import { access, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type HistoryAndWorkflowId } from '@temporalio/client';
import type * as Worker from '@temporalio/worker';
import { type ReplayResult, type WorkflowBundle } from '@temporalio/worker';
import { given } from 'temporal-media/internal/domain/json';
import { bundledTypes } from 'temporal-media/internal/worker/join-bundle';
import { bundledWorkflows } from 'temporal-media/internal/workflow-bundle';
import type * as Plugin from 'temporal-media/plugin';
import { type LoadedRun } from './loaded-history';
import { isCommandOf, PaidInputs } from './paid-inputs';
import { type RecordedCommand, RECORDER, ReplayWorker, withRecorder } from './replay-worker';
import { divergenceOf, SDK, SourceLocations, type Verdict, type WrittenBy, writtenBy } from './verdict';

/** Which code to replay with. */
export interface CodeOptions {
  /** File with the user's workflows, which are bundled with this package's workflows. */
  readonly workflowsPath?: string;
  /** Module with the workers' payload converter, which is bundled with the user's workflows. */
  readonly payloadConverterPath?: string;
  /** Path of an existing bundle. */
  readonly bundlePath?: string;
}

/**
 * Loads the code to replay with: the user's workflows with ours, a bundle, or only this package's workflows.
 * @throws the bundler's error, or a file system error if the bundle cannot be read
 */
export async function replayCode(options: CodeOptions = {}): Promise<ReplayCode> {
  const { workflowsPath, payloadConverterPath, bundlePath } = options;
  if (bundlePath !== undefined) {
    const code = await readFile(bundlePath, 'utf8');
    if (!code.includes('__TEMPORAL__') || !code.includes('//# sourceMappingURL=data:'))
      throw new Error('The file is not a bundle that bundleWorkflowCode created.');
    return { bundle: { code } };
  }
  if (workflowsPath !== undefined) {
    // Fails with a file system error, which is clearer than the bundler's.
    await access(workflowsPath);
    const { bundleWorkflowCode, DefaultLogger } = require('@temporalio/worker') as typeof Worker;
    // Required only here, because it loads everything that a worker needs.
    const { MediaPlugin } = require('temporal-media/plugin') as typeof Plugin;
    const bundle = await bundleWorkflowCode({
      workflowsPath: resolve(workflowsPath),
      plugins: [new MediaPlugin()],
      ...given({ payloadConverterPath }),
      logger: new DefaultLogger('ERROR'),
    });
    return { bundle };
  }
  const shipped = await shippedCode();
  if (shipped !== undefined) return { bundle: shipped };
  throw new Error('This package has no workflow bundle.');
}

async function shippedCode(): Promise<{ readonly code: string } | undefined> {
  const { workflowBundle } = await bundledWorkflows(undefined);
  if (workflowBundle == null) return undefined;
  if ('code' in workflowBundle) return { code: workflowBundle.code };
  return { code: await readFile(workflowBundle.codePath, 'utf8') };
}

/** One run's verdict. */
export interface ReplayedRun {
  /** The run that was replayed. */
  readonly run: LoadedRun;
  /** What the replay showed. */
  readonly verdict: Verdict;
}

/** Options for {@link replayHistories}. */
export interface ReplayCode {
  /** A bundle from `bundleWorkflowCode`. */
  readonly bundle: WorkflowBundle;
}

/**
 * Replays one run after another with a bundle's code and a single worker. Each run is released as soon as its verdict
 * is known.
 */
export async function* replayHistories(
  code: ReplayCode,
  runs: AsyncIterable<LoadedRun> | Iterable<LoadedRun>,
): AsyncGenerator<ReplayedRun> {
  const replayer = new Replayer(code);
  try {
    for await (const run of runs) yield { run, verdict: await replayer.verdictOf(run) };
  } finally {
    await replayer.close();
  }
}

/** Replays runs with a bundle's code. A run that diverges is replayed a second time to record its commands. */
export class Replayer {
  readonly #types: ReadonlySet<string> | undefined;
  readonly #inputs = new PaidInputs();
  readonly #comparing: OneByOne;
  readonly #explainer: Explainer;

  constructor({ bundle }: ReplayCode) {
    const inputs = this.#inputs;
    class Comparing extends ReplayWorker {
      protected override keep(commands: readonly object[]): void {
        inputs.keep(commands as Parameters<PaidInputs['keep']>[0]);
      }
    }
    this.#types = bundledTypes(bundle.code);
    this.#comparing = new OneByOne((runs) => Comparing.runReplayHistories({ workflowBundle: bundle }, runs));
    this.#explainer = new Explainer(bundle);
  }

  async verdictOf(run: LoadedRun): Promise<Verdict> {
    const verdict = withoutReplay(run, this.#types);
    if (verdict !== undefined) return verdict;
    this.#inputs.clear();
    const error = await this.#comparing.replay(run);
    const by = writtenBy(run.history);
    return error === undefined
      ? compared(run, this.#explainer, by, this.#inputs.differences(run.history))
      : explain(run, this.#explainer, by, error);
  }

  async close(): Promise<void> {
    await Promise.all([this.#comparing.close(), this.#explainer.close()]);
  }
}

function withoutReplay(
  { history, workflowType }: LoadedRun,
  types: ReadonlySet<string> | undefined,
): Verdict | undefined {
  const by = writtenBy(history);
  const no = (reason: Extract<Verdict, { verdict: 'not_replayed' }>['reason']): Verdict => ({
    verdict: 'not_replayed',
    writtenBy: by,
    reason,
  });
  if (by.sdk !== null && !by.sdk.startsWith(`${SDK} `)) return no('other_sdk');
  if (types !== undefined && !types.has(workflowType) && !types.has('default')) return no('unknown_workflow');
  const done = history.events?.some((event) => event.workflowTaskCompletedEventAttributes != null);
  return done === true ? undefined : no('not_started');
}

/**
 * Returns the verdict on a run whose commands match. Includes the source locations of commands with different inputs.
 */
async function compared(
  run: LoadedRun,
  explainer: Explainer,
  by: WrittenBy,
  differences: ReturnType<PaidInputs['differences']>,
): Promise<Verdict> {
  if (differences.length === 0) return { verdict: 'identical', writtenBy: by };
  const { commands } = await explainer.record(run);
  const placed = differences.map((difference) => {
    const event = run.history.events?.find(({ eventId }) => Number(eventId) === difference.event.eventId);
    const { activityId } = event?.activityTaskScheduledEventAttributes ?? {};
    const command = commands.find((one) => isCommandOf(one, difference, activityId));
    const places = command === undefined ? [] : explainer.locations.of(command.stack);
    const theirs = places.filter(({ file }) => !OF_PACKAGE.some((folder) => file.startsWith(folder)));
    return { ...difference, at: theirs.length > 0 ? theirs : places };
  });
  return { verdict: 'inputs_differ', writtenBy: by, differences: placed };
}

/**
 * The path of this package's code in source maps. Differing inputs come from the caller's code, so the caller's
 * locations are shown.
 */
const ROOT = dirname(require.resolve('temporal-media/package.json'));
const OF_PACKAGE = ['temporal-media/', join(ROOT, 'src/'), join(ROOT, 'lib/')];

/** Replays a failed run again with the recorder. */
async function explain(run: LoadedRun, explainer: Explainer, by: WrittenBy, failed: Error): Promise<Verdict> {
  const { error = failed, commands } = await explainer.record(run);
  const detail = quoted(error.message, 'message') ?? error.message;
  const locationsOf = (stack: string) => explainer.locations.of(stack);
  return error.name === 'ReplayError'
    ? {
        verdict: 'fails',
        writtenBy: by,
        message: detail,
        at: locationsOf(quoted(error.message, 'stack_trace') ?? ''),
      }
    : {
        verdict: 'diverges',
        writtenBy: by,
        divergence: divergenceOf(run.history, commands, detail, locationsOf),
      };
}

/** Extracts a failure's field from the SDK's message. */
function quoted(text: string, field: 'message' | 'stack_trace'): string | undefined {
  return new RegExp(`\\b${field}: "((?:[^"\\\\]|\\\\.)*)"`)
    .exec(text)?.[1]
    ?.replaceAll('\\"', '"')
    .replaceAll('\\n', '\n');
}

/** The result of a replay with the recorder. */
interface Recording {
  readonly error: Error | undefined;
  readonly commands: readonly RecordedCommand[];
}

/** Replays runs and records their commands. */
class Explainer {
  readonly #recording: OneByOne;
  #commands: RecordedCommand[] = [];
  #locations: SourceLocations | undefined;

  constructor(private readonly bundle: WorkflowBundle) {
    const keep = (_info: unknown, command: RecordedCommand): void => void this.#commands.push(command);
    this.#recording = new OneByOne((runs) =>
      ReplayWorker.runReplayHistories(
        {
          workflowBundle: { code: withRecorder(bundle.code) },
          sinks: { [RECORDER]: { [RECORDER]: { fn: keep, callDuringReplay: true } } },
        },
        runs,
      ),
    );
  }

  async record(run: LoadedRun): Promise<Recording> {
    this.#commands = [];
    return { error: await this.#recording.replay(run), commands: this.#commands };
  }

  /** Finds workflow code locations in stacks. */
  get locations(): SourceLocations {
    return (this.#locations ??= new SourceLocations(this.bundle.code));
  }

  async close(): Promise<void> {
    await this.#recording.close();
  }
}

/** Feeds runs to one worker on demand. Starts the worker with the first run. */
class OneByOne {
  #results: AsyncIterableIterator<ReplayResult> | undefined;
  #given: HistoryAndWorkflowId | undefined;

  constructor(
    private readonly start: (
      runs: AsyncIterable<HistoryAndWorkflowId>,
    ) => AsyncIterableIterator<ReplayResult>,
  ) {}

  /** @returns the error if the run does not replay */
  async replay({ workflowId, history }: LoadedRun): Promise<Error | undefined> {
    this.#given = { workflowId, history };
    this.#results ??= this.start(this.#runs());
    const { value } = (await this.#results.next()) as IteratorYieldResult<ReplayResult>;
    return value.error;
  }

  async close(): Promise<void> {
    await this.#results?.return?.();
  }

  /** Advances only when `next` is called, after the next run has been set. */
  async *#runs(): AsyncGenerator<HistoryAndWorkflowId> {
    for (let run = this.#given; run !== undefined; run = this.#given) {
      this.#given = undefined;
      yield run;
    }
  }
}
