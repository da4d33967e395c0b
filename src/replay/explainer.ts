import { type HistoryAndWorkflowId } from '@temporalio/client';
import { type ReplayResult, type WorkflowBundle } from '@temporalio/worker';
import { type RecordedCommand, RECORDER, withRecorder } from './command-recorder';
import { type LoadedRun } from './loaded-history';
import { ReplayWorker } from './replay-worker';
import { SourceLocations } from './source-location';

/** What a replay with the recorder shows. */
export interface Recording {
  readonly error: Error | undefined;
  readonly commands: readonly RecordedCommand[];
}

/** Replays runs with a record of their commands, with one worker for all of them, which starts with the first. */
export class Explainer {
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
