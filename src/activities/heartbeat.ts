import { AsyncLocalStorage } from 'node:async_hooks';
import { activityInfo, Context } from '@temporalio/activity';
import { reportIfMistake } from './failures';

const heartbeats = new AsyncLocalStorage<true>();

/** Whether a payload that is encoded now is the details of a heartbeat. They contain ids and counts, never a prompt. */
export const isOfHeartbeat = (): boolean => heartbeats.getStore() === true;

export interface Heartbeat {
  /** Passes the details to the SDK, which decides when to send them. */
  beat(): void;
  /** Stops the background heartbeats. */
  stop(): void;
}

const NO_HEARTBEAT: Heartbeat = { beat: () => undefined, stop: () => undefined };

/**
 * Sends a heartbeat every half heartbeat timeout until `stop` is called, so the server times out a worker that hangs or
 * dies, but not one that is waiting. Work that finishes before the first heartbeat costs the server nothing. Does
 * nothing without a heartbeat timeout. A failed heartbeat never fails the activity.
 * @param details returns what the next attempt needs; called before every heartbeat
 */
export function startHeartbeat(details: () => unknown = () => undefined): Heartbeat {
  const { heartbeatTimeoutMs } = activityInfo();
  if (heartbeatTimeoutMs === undefined || heartbeatTimeoutMs <= 0) return NO_HEARTBEAT;
  const context = Context.current();
  const beat = () => {
    try {
      heartbeats.run(true, () => context.heartbeat(details()));
    } catch (error) {
      // An error thrown in a timer would end the process.
      reportIfMistake(error);
      // The next heartbeat is another chance, and the server's heartbeat timeout applies.
    }
  };
  const timer = setInterval(beat, Math.max(10, heartbeatTimeoutMs / 2));
  timer.unref();
  return { beat, stop: () => clearInterval(timer) };
}

/** Reports an attempt to the server before its request is sent (docs/adr/0015). */
interface AcknowledgedHeartbeat {
  /**
   * Sends the current details. `acknowledged` means that the server has received them and nothing newer from this
   * attempt.
   */
  notify(): Promise<Acknowledgement>;
  /** Stops the background heartbeats. */
  stop(): void;
}

/**
 * `stopped`: the server has responded that the attempt must end (canceled, paused, timed out, or its workflow closed).
 * `unacknowledged`: it is unknown what the server has received.
 */
export type Acknowledgement = 'acknowledged' | 'stopped' | 'unacknowledged';

/** Maximum wait for the server's acknowledgement, in milliseconds. The wait counts toward the send's time. */
const ANSWER_MS = 4_000;

interface AcknowledgedHeartbeatOptions {
  /** Called each time a heartbeat is sent. */
  readonly details: () => object;
  /** Details for the SDK's own heartbeats. They may arrive late, so they must be true no matter how old they are. */
  readonly careful: () => object;
  /**
   * Whether the attempt has used all of its time. Background heartbeats then stop, and the server times the attempt
   * out.
   */
  readonly isOver: () => boolean;
}

/**
 * Sends a heartbeat every half heartbeat timeout, and on every `notify`. The SDK delays its heartbeats. Here, each
 * heartbeat must be acknowledged before the next one is sent, so the server's state is never older than the last
 * report.
 */
export function startAcknowledgedHeartbeat({
  details,
  careful,
  isOver,
}: AcknowledgedHeartbeatOptions): AcknowledgedHeartbeat {
  const context = Context.current();
  const send = senderOf(context);
  let running: Promise<Acknowledgement> = Promise.resolve('acknowledged');
  let next: Promise<Acknowledgement> | undefined;
  let doubtful = false;

  const beat = async (): Promise<Acknowledgement> => {
    try {
      await heartbeats.run(true, () => send(details()));
    } catch (error) {
      if (STOPS.has((error as Error).name)) return 'stopped';
      // The heartbeat may still be in flight and arrive after a later one.
      doubtful = true;
    }
    return doubtful ? 'unacknowledged' : 'acknowledged';
  };
  const notify = (): Promise<Acknowledgement> => {
    next ??= running.then(() => {
      next = undefined;
      return (running = beat());
    });
    return next;
  };

  const { heartbeatTimeoutMs = 0 } = activityInfo();
  if (heartbeatTimeoutMs <= 0) return { notify, stop: () => undefined };
  let ticks = 0;
  const timer = setInterval(
    () => {
      if (isOver()) return;
      void notify();
      ticks += 1;
      // The SDK abandons an attempt five seconds after the heartbeat timeout unless the SDK itself has sent a
      // heartbeat.
      if (ticks % 2 === 0) heartbeats.run(true, () => context.heartbeat(careful()));
    },
    Math.max(10, heartbeatTimeoutMs / 2),
  );
  timer.unref();
  return { notify, stop: () => clearInterval(timer) };
}

/** Names of the client errors by which the server indicates that the attempt must end. */
const STOPS: ReadonlySet<string> = new Set([
  'ActivityNotFoundError',
  'ActivityCancelledError',
  'ActivityPausedError',
  'ActivityResetError',
]);

function senderOf(context: Context): (details: object) => Promise<void> {
  const client = clientOf(context);
  // Only test environments have no client, and they record a heartbeat immediately. A local activity's heartbeats do
  // not reach a server.
  if (client === undefined || context.info.isLocal) return async (details) => context.heartbeat(details);
  const { taskToken } = context.info;
  return (details) =>
    client.withDeadline(Date.now() + ANSWER_MS, () => client.activity.heartbeat(taskToken, details));
}

function clientOf(context: Context): Context['client'] | undefined {
  try {
    return context.client;
  } catch (_error) {
    return undefined;
  }
}
