import { dirname, join } from 'node:path';
import { type HistoryAndWorkflowId } from '@temporalio/client';
import { type WorkflowBundle, type ReplayResult } from '@temporalio/worker';
import { bundledTypes } from '../worker/bundled-types';
import { type RecordedCommand, RECORDER, withRecorder } from './command-recorder';
import { divergenceOf } from './divergence';
import { type LoadedRun, type LoadedTarget } from './loaded-history';
import { isCommandOf, PaidInputs } from './paid-inputs';
import { ReplayWorker } from './replay-worker';
import { SourceLocations } from './source-location';
import { type Verdict, type WrittenBy } from './verdict';
import { SDK, writtenBy } from './written-by';
import { type UnloadedTarget } from './history-folder';

/** The verdict about one run. */
export interface ReplayedRun {
  readonly run: LoadedRun;
  readonly verdict: Verdict;
}

/** What {@link replayHistories} replays with. */
export interface ReplayCode {
  /** A bundle of `bundleWorkflowCode`. */
  readonly bundle: WorkflowBundle;
}

/**
 * Replays one run after the other with the code of a bundle, with one worker for all: a run is let go when its verdict
 * is there. A run that diverges is replayed a second time, with a record of its commands.
 */
export async function* replayHistories(
  code: ReplayCode,
  runs: AsyncIterable<LoadedRun> | Iterable<LoadedRun>,
): AsyncGenerator<ReplayedRun> {
  const types = bundledTypes(code.bundle.code);
  let current: LoadedRun | undefined;
  const unfit: ReplayedRun[] = [];
  const inputs = new PaidInputs();
  class Comparing extends ReplayWorker {
    protected override keep(commands: readonly object[]): void {
      inputs.keep(commands as Parameters<PaidInputs['keep']>[0]);
    }
  }
  async function* fit() {
    for await (const run of runs) {
      const verdict = withoutReplay(run, types);
      if (verdict !== undefined) unfit.push({ run, verdict });
      else {
        current = run;
        inputs.clear();
        yield { workflowId: run.workflowId, history: run.history };
      }
    }
  }
  const explainer = new Explainer(code.bundle);
  try {
    for await (const { error } of Comparing.runReplayHistories({ workflowBundle: code.bundle }, fit())) {
      yield* unfit.splice(0);
      const run = current as LoadedRun;
      const by = writtenBy(run.history);
      if (error !== undefined) yield { run, verdict: await explain(run, explainer, by, error) };
      else yield { run, verdict: await compared(run, explainer, by, inputs.differences(run.history)) };
    }
    yield* unfit.splice(0);
  } finally {
    await explainer.close();
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

/** The verdict about a run with the same commands: with the places of those whose inputs are others. */
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

/** Code of this package, as source maps name it; what a call buys is decided where it is called. */
const ROOT = dirname(dirname(__dirname));
const OF_PACKAGE = ['temporal-media/', join(ROOT, 'src/'), join(ROOT, 'lib/')];

/** Replays a run that did not pass once more, with the recorder. */
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

/** A field of the failure that the SDK writes into its message. */
function quoted(text: string, field: 'message' | 'stack_trace'): string | undefined {
  return new RegExp(`\\b${field}: "((?:[^"\\\\]|\\\\.)*)"`)
    .exec(text)?.[1]
    ?.replaceAll('\\"', '"')
    .replaceAll('\\n', '\n');
}

/** What a replay with the recorder shows. */
interface Recording {
  readonly error: Error | undefined;
  readonly commands: readonly RecordedCommand[];
}

/** Replays runs with a record of their commands, with one worker for all of them, which starts with the first. */
class Explainer {
  readonly #next = new Deferred<HistoryAndWorkflowId>();
  #commands: RecordedCommand[] = [];
  #results: AsyncIterableIterator<ReplayResult> | undefined;

  #locations: SourceLocations | undefined;

  constructor(private readonly bundle: WorkflowBundle) {}

  async record({ workflowId, history }: LoadedRun): Promise<Recording> {
    this.#commands = [];
    const results = (this.#results ??= ReplayWorker.runReplayHistories(
      {
        workflowBundle: { code: withRecorder(this.bundle.code) },
        sinks: { [RECORDER]: { [RECORDER]: { fn: this.#keep, callDuringReplay: true } } },
      },
      this.#next.values(),
    ));
    this.#next.give({ workflowId, history });
    const result = await results.next();
    const { error } = result.value as ReplayResult;
    return { error, commands: this.#commands };
  }

  /** The places of workflow code in a stack. */
  get locations(): SourceLocations {
    return (this.#locations ??= new SourceLocations(this.bundle.code));
  }

  async close(): Promise<void> {
    this.#next.end();
    await this.#results?.return?.();
  }

  readonly #keep = (_info: unknown, command: RecordedCommand): void => void this.#commands.push(command);
}

/** A list whose values are given one by one, each after the one before was taken. */
class Deferred<Value extends object> {
  #given: Value | undefined;
  #ended = false;
  #wake: () => void = () => undefined;

  give(value: Value): void {
    this.#given = value;
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  async *values(): AsyncGenerator<Value> {
    for (;;) {
      if (this.#given !== undefined) {
        const value = this.#given;
        this.#given = undefined;
        yield value;
      } else if (this.#ended) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

/** A target with the verdict about each of its runs. */
export interface ReplayedTarget extends LoadedTarget {
  readonly verdicts: readonly Verdict[];
}

interface Open {
  readonly target: LoadedTarget | UnloadedTarget;
  readonly verdicts: Verdict[];
}

const isDone = ({ target, verdicts }: Open): boolean =>
  'error' in target || verdicts.length === target.runs.length;

/** Replays the runs of each target, in order, and passes on what could not be loaded. */
export async function* replayTargets(
  code: ReplayCode,
  targets: AsyncIterable<LoadedTarget | UnloadedTarget>,
): AsyncGenerator<ReplayedTarget | UnloadedTarget> {
  const open: Open[] = [];
  async function* runs(): AsyncGenerator<LoadedRun> {
    for await (const target of targets) {
      open.push({ target, verdicts: [] });
      if (!('error' in target)) yield* target.runs;
    }
  }
  const done = (): (ReplayedTarget | UnloadedTarget)[] => {
    const end = open.findIndex((one) => !isDone(one));
    return open
      .splice(0, end === -1 ? open.length : end)
      .map(({ target, verdicts }) => ('error' in target ? target : { ...target, verdicts }));
  };
  // Results come in the order of the runs.
  for await (const { verdict } of replayHistories(code, runs())) {
    open.find((one) => !isDone(one))?.verdicts.push(verdict);
    yield* done();
  }
  yield* done();
}
