import { Worker } from '@temporalio/worker';
import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared';

/**
 * Records which commands today's code produces in a replay, and where. It is appended to the code of a bundle, because
 * that works for every bundle, also one that was made before, and changes no command.
 *
 * @module
 */

/** Name of the sink that receives the commands, and of its function. */
export const RECORDER = 'temporalMediaReplay';

/** One command as the workflow code produced it. */
export interface RecordedCommand {
  /** Event id of the start of the workflow task that produced it. */
  readonly task: number;
  /** Field of the command: `scheduleActivity`, `startTimer`, … */
  readonly kind: string;
  /** Number of the command in the workflow; for a cancellation that of what it cancels. */
  readonly seq: number | null;
  /** Type of the activity, child or operation; id of the patch; name of the signal. */
  readonly name: string | null;
  /** Workflow id of a child or of the receiver of a signal. */
  readonly id: string | null;
  /** Milliseconds of a timer. */
  readonly ms: number | null;
  /** The payload of its summary. */
  readonly summary: Uint8Array | null;
  /** As V8 writes it, with places in the sources. */
  readonly stack: string;
}

/** Fields of every command that say nothing about its kind. */
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

/** Runs inside of the sandbox of workflows: it may use nothing of this module. */
function install(sink: string): void {
  const sandbox = globalThis as unknown as SandboxGlobal;
  // Frames of the SDK lie between a command and the code of its workflow.
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
            // Without the head and the recorder itself.
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

/** The code of a bundle with the recorder in it. */
export function withRecorder(code: string): string {
  return appended(code, install, RECORDER);
}

/**
 * Adds a call to the end of a bundle, which runs when the bundle is loaded into a sandbox. Its source map stays as it is: no
 * line before it moves.
 */
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
 * A replay worker without what makes replays slow and says nothing about determinism: a thread that limits each call into
 * the sandbox, which costs more than the call itself, a stack trace for each promise, and a walk through the payloads of
 * each workflow task in search of something to decode. The payloads of a loaded history are decoded.
 */
export class ReplayWorker extends Worker {
  protected static override async createWorkflowCreator(
    ...[bundle, options, logger]: Creating
  ): ReturnType<(typeof Worker)['createWorkflowCreator']> {
    // Without a limit, the sandbox is called without a thread.
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

  /** Receives the commands of each workflow task. */
  protected keep(_commands: readonly object[]): void {
    // Only who compares them needs them.
  }
}
