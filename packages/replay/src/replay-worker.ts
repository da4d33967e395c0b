import { Worker } from '@temporalio/worker';
import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared';

/**
 * Records which commands the current code produces in a replay, and where. The recorder is appended to a bundle's code,
 * which works for every bundle, including existing ones, and does not change commands.
 *
 * @module
 */

/** Name of the sink that receives the commands, and of its function. */
export const RECORDER = 'temporalMediaReplay';

/** One command as the workflow code produced it. */
export interface RecordedCommand {
  /** Event id at which the command's workflow task started. */
  readonly task: number;
  /** The command's field: `scheduleActivity`, `startTimer`, … */
  readonly kind: string;
  /** The command's sequence number in the workflow; for a cancellation, the canceled command's number. */
  readonly seq: number | null;
  /** Activity, child or operation type, patch id, or signal name. */
  readonly name: string | null;
  /** A child's workflow id, or the workflow id that a signal was sent to. */
  readonly id: string | null;
  /** A timer's duration in milliseconds. */
  readonly ms: number | null;
  /** The command's summary, as a payload. */
  readonly summary: Uint8Array | null;
  /** V8's stack trace, which includes source locations. */
  readonly stack: string;
}

/** A command's fields. One of them identifies its kind. */
type Command = Record<string, Record<string, unknown> | null | undefined>;

interface SandboxGlobal {
  __TEMPORAL__: {
    readonly importInterceptors: () => unknown[];
  };
  readonly __TEMPORAL_ACTIVATOR__: {
    readonly info: { readonly historyLength: number };
    readonly sinkCalls: unknown[];
    pushCommand(command: Command, complete?: boolean): void;
  };
}

/** Runs inside the workflow sandbox, so it must not use anything from this module. */
function install(sink: string): void {
  const sandbox = globalThis as unknown as SandboxGlobal;
  // Many SDK frames separate a command from the workflow code that issued it.
  Error.stackTraceLimit = 60;
  const { importInterceptors, ...rest } = sandbox.__TEMPORAL__;
  const number = (value: unknown): number | null => (value == null ? null : Number(value));
  const text = (...values: unknown[]): string | null =>
    values.find((value): value is string => typeof value === 'string') ?? null;
  const interceptors = (): object => {
    const activator = sandbox.__TEMPORAL_ACTIVATOR__;
    const push = activator.pushCommand.bind(activator);
    activator.pushCommand = (command, complete) => {
      const kind =
        Object.keys(command).find((key) => key !== 'userMetadata' && key !== 'eventGroupMarkers') ?? '';
      const fields = command[kind] ?? {};
      const timeout = fields['startToFireTimeout'] as { seconds?: unknown; nanos?: unknown } | undefined;
      const target = fields['workflowExecution'] as { workflowId?: unknown } | undefined;
      const summary = command['userMetadata']?.['summary'] as { data?: Uint8Array } | undefined;
      activator.sinkCalls.push({
        ifaceName: sink,
        fnName: sink,
        args: [
          {
            task: activator.info.historyLength,
            kind,
            seq: number(fields['seq']),
            name: text(
              fields['activityType'],
              fields['workflowType'],
              fields['patchId'],
              fields['signalName'],
              fields['operation'],
            ),
            id: text(fields['workflowId'], target?.workflowId),
            ms:
              timeout === undefined
                ? null
                : Number(timeout.seconds) * 1000 + Number(timeout.nanos ?? 0) / 1e6,
            summary: summary?.data ?? null,
            // Leaves out the first line and the recorder's own frame.
            stack: String(new Error().stack).split('\n').slice(2).join('\n'),
          },
        ],
        workflowInfo: activator.info,
      });
      push(command, complete);
    };
    return {};
  };
  sandbox.__TEMPORAL__ = {
    ...rest,
    importInterceptors: () => [{ interceptors }, ...importInterceptors()],
  };
}

const SOURCE_MAP = '\n//# sourceMappingURL=';

/** Returns a bundle's code with the recorder appended. */
export function withRecorder(code: string): string {
  return appended(code, install, RECORDER);
}

/** Appends a call that runs when a sandbox loads the bundle. The source map stays valid, because no lines move. */
export function appended<Value extends string | object>(
  code: string,
  call: (value: Value) => void,
  value: Value,
): string {
  const at = code.lastIndexOf(SOURCE_MAP);
  return `${code.slice(0, at)}\n;(${call.toString()})(${JSON.stringify(value)});${code.slice(at)}`;
}

type Creating = Parameters<(typeof Worker)['createWorkflowCreator']>;

/**
 * A replay worker without three features that slow replays down and do not affect determinism: a thread that enforces a
 * time limit on each sandbox call, which costs more than the call itself; a stack trace for each promise; and a search
 * through each workflow task's payloads for data to decode. A loaded history's payloads are already decoded.
 */
export class ReplayWorker extends Worker {
  protected static override async createWorkflowCreator(
    ...[bundle, options, logger]: Creating
  ): ReturnType<(typeof Worker)['createWorkflowCreator']> {
    // Without a time limit, the SDK calls the sandbox without a thread.
    const unlimited = { ...options, isolateExecutionTimeoutMs: undefined } as unknown as Creating[1];
    const creator = await super.createWorkflowCreator(bundle, unlimited, logger);
    globalHandlers.uninstall();
    return creator;
  }

  protected override async createWorkflow(
    ...args: Parameters<Worker['createWorkflow']>
  ): ReturnType<Worker['createWorkflow']> {
    const created = await super.createWorkflow(...args);
    const { workflowCodecRunner: codecs } = created;
    codecs.decodeActivation = (activation) => Promise.resolve(activation as never);
    codecs.encodeCompletion = (completion) => {
      this.keep(completion.successful?.commands ?? []);
      return Promise.resolve(completion as never);
    };
    return created;
  }

  /** Receives each workflow task's commands. */
  protected keep(_commands: readonly object[]): void {
    // Only a subclass that compares inputs needs the commands.
  }
}
