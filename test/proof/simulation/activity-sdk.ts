import { currentTime } from './virtual-globals';
/**
 * A placeholder for `@temporalio/activity` in the simulation: what an activity asks of its context. Whose context it is
 * follows from the event that runs.
 * @module
 */
import { type Actor } from './virtual-time';

/** One execution of an activity on a worker. */
export interface Execution extends Actor {
  readonly info: {
    readonly namespace: string;
    readonly workflowNamespace?: string;
    readonly workflowExecution?: { readonly workflowId: string; readonly runId: string };
    /** Of an activity without a workflow. */
    readonly activityRunId?: string;
    readonly activityId: string;
    readonly attempt: number;
    readonly scheduledTimestampMs: number;
    readonly currentAttemptScheduledTimestampMs: number;
    readonly heartbeatDetails: unknown;
    readonly startToCloseTimeoutMs: number;
    readonly scheduleToCloseTimeoutMs: number;
    readonly heartbeatTimeoutMs: number | undefined;
    readonly retryPolicy: { readonly maximumAttempts: number };
  };
  readonly signal: { aborted: boolean };
  /** A heartbeat of the SDK reaches the server some time later. */
  readonly beat: (details: unknown) => void;
  /** A heartbeat that the server answers, or does not. */
  readonly tell: (details: unknown) => Promise<void>;
  /** Of its input. */
  readonly creationKey: string;
  readonly sender: string;
  /** Place of the log that it has tried to take last, and the nonce it wrote there. */
  intent: { readonly place: number; readonly nonce: string } | undefined;
}

/** The execution whose promises run now. */
export function execution(): Execution {
  const { current } = currentTime();
  if (!('info' in current)) throw new Error('No activity runs.');
  return current as Execution;
}

export const activityInfo = (): Execution['info'] => execution().info;
export const cancellationSignal = (): Execution['signal'] => execution().signal;
export const heartbeat = (details: unknown): void => execution().beat(details);
export const log = {
  warn: (text: string): void => currentTime().say(() => `warns: ${text}`),
  info: (): void => undefined,
};
export const Context = {
  current: () => {
    const { tell, beat, info } = execution();
    // The deadline is the simulated server's: it says how long nothing is heard of it.
    const client = {
      withDeadline: (_: number, work: () => Promise<void>) => work(),
      activity: { heartbeat: (_token: unknown, details: unknown) => tell(details) },
    };
    return { heartbeat: beat, info: { ...info, taskToken: '', isLocal: false }, client };
  },
};
