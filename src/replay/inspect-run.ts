import { type WorkflowBundle } from '@temporalio/worker';
import { type LoadedRun } from './loaded-history';
import { ReplayWorker } from './replay-worker';
import { appended } from './command-recorder';

interface Activation {
  readonly historyLength?: number | null;
}

interface SandboxGlobal {
  __TEMPORAL__: {
    readonly api: { activate(activation: Activation, batch?: number): unknown };
  };
}

/** Runs inside of the sandbox of workflows: it may use nothing of this module. */
function install(task: number): void {
  const sandbox = globalThis as unknown as SandboxGlobal;
  const { api, ...rest } = sandbox.__TEMPORAL__;
  sandbox.__TEMPORAL__ = {
    ...rest,
    api: {
      ...api,
      activate(activation, batch) {
        // Step into the next call: it goes on where the workflow waits.
        // oxlint-disable-next-line no-debugger
        if (activation.historyLength === task) debugger;
        return api.activate(activation, batch);
      },
    },
  };
}

/**
 * Replays a run in this thread, and stops a debugger in the workflow task that reads or produces an event. Returns when the
 * replay has ended, with what the SDK says about it.
 * @param eventId @default the first workflow task
 */
export async function inspectRun(
  bundle: WorkflowBundle,
  { workflowId, history }: LoadedRun,
  eventId: number,
): Promise<Error | undefined> {
  const workflowBundle = { code: appended(bundle.code, install, taskOf(history, eventId)) };
  let failed: Error | undefined;
  for await (const { error } of ReplayWorker.runReplayHistories({ workflowBundle }, [
    { workflowId, history },
  ]))
    failed = error;
  return failed;
}

/** Event id of the start of the workflow task that produces this event, or is the first to read it. */
function taskOf({ events }: LoadedRun['history'], eventId: number): number {
  const event = events?.find((one) => Number(one.eventId) === eventId);
  const fields = Object.entries(event ?? {}).find(
    ([name, value]) => name.endsWith('EventAttributes') && value != null,
  );
  const completed = (fields?.[1] as { readonly workflowTaskCompletedEventId?: unknown } | undefined)
    ?.workflowTaskCompletedEventId;
  const of = (id: number) =>
    Number(events?.[id - 1]?.workflowTaskCompletedEventAttributes?.startedEventId ?? 0);
  if (completed != null && of(Number(completed)) > 0) return of(Number(completed));
  for (const one of events ?? [])
    if (one.workflowTaskCompletedEventAttributes != null && of(Number(one.eventId)) >= eventId)
      return of(Number(one.eventId));
  return Number(
    events?.findLast((one) => one.workflowTaskCompletedEventAttributes != null)
      ?.workflowTaskCompletedEventAttributes?.startedEventId ?? 0,
  );
}
