import { type WorkflowBundle } from '@temporalio/worker';
import { commandEvent } from './history-commands';
import { type LoadedRun } from './loaded-history';
import { appended, ReplayWorker } from './replay-worker';

interface Activation {
  readonly historyLength?: number | null;
}

/** Where a debugger stops. */
interface Stop {
  /**
   * `begin`: at the workflow function call; `read`: before a workflow task; `command`: where the code issues commands.
   */
  readonly at: 'begin' | 'read' | 'command';
  /** Event id at which the workflow task started. */
  readonly task: number;
}

interface SandboxGlobal {
  __TEMPORAL__: {
    readonly api: { activate(activation: Activation, batch?: number): unknown };
    readonly importInterceptors: () => unknown[];
  };
  readonly __TEMPORAL_ACTIVATOR__: {
    readonly info: { readonly historyLength: number };
    pushCommand(command: unknown, complete?: boolean): void;
  };
}

/** Runs inside the workflow sandbox, so it must not use anything from this module. */
function install(stop: Stop): void {
  /* oxlint-disable no-debugger */
  const sandbox = globalThis as unknown as SandboxGlobal;
  const { api, importInterceptors, ...rest } = sandbox.__TEMPORAL__;
  const interceptors = (): object => {
    const activator = sandbox.__TEMPORAL_ACTIVATOR__;
    const push = activator.pushCommand.bind(activator);
    activator.pushCommand = (command, complete) => {
      // The workflow code that issues this command is further down in the call stack.
      if (stop.at === 'command' && activator.info.historyLength === stop.task) debugger;
      push(command, complete);
    };
    const execute = (input: unknown, next: (input: unknown) => unknown): unknown => {
      // Step into the next call, which is the workflow function.
      if (stop.at === 'begin') debugger;
      return next(input);
    };
    return { inbound: [{ execute }] };
  };
  sandbox.__TEMPORAL__ = {
    ...rest,
    // Added as the innermost interceptor, so that the next call is the workflow function.
    importInterceptors: () => [...importInterceptors(), { interceptors }],
    api: {
      ...api,
      activate(activation, batch) {
        // Step into the next call: the workflow resumes where it was waiting.
        if (stop.at === 'read' && activation.historyLength === stop.task) debugger;
        return api.activate(activation, batch);
      },
    },
  };
}

/**
 * Replays a run in this thread under a debugger. Given an event, the debugger stops where the code issues the commands
 * of the event's workflow task, or before the first workflow task that reads the event. Without an event, it stops at
 * the start of the workflow. Returns the SDK's error if the run does not replay.
 */
export async function inspectRun(
  bundle: WorkflowBundle,
  { workflowId, history }: LoadedRun,
  eventId?: number,
): Promise<Error | undefined> {
  const stop: Stop = eventId === undefined ? { at: 'begin', task: 0 } : stopOf(history, eventId);
  const workflowBundle = { code: appended(bundle.code, install, stop) };
  let failed: Error | undefined;
  for await (const { error } of ReplayWorker.runReplayHistories({ workflowBundle }, [
    { workflowId, history },
  ]))
    failed = error;
  return failed;
}

function stopOf({ events }: LoadedRun['history'], eventId: number): Stop {
  const startOf = (completedId: number): number =>
    Number(events?.[completedId - 1]?.workflowTaskCompletedEventAttributes?.startedEventId ?? 0);
  const event = events?.find((one) => Number(one.eventId) === eventId);
  const command = event === undefined ? undefined : commandEvent(event);
  const own = command === undefined ? 0 : startOf(command.task);
  if (own > 0) return { at: 'command', task: own };
  const starts = (events ?? []).flatMap(({ workflowTaskCompletedEventAttributes: completed }) =>
    completed == null ? [] : [Number(completed.startedEventId)],
  );
  return { at: 'read', task: starts.find((start) => start >= eventId) ?? starts.at(-1) ?? 0 };
}
