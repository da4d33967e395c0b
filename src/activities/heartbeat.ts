import { activityInfo, Context } from '@temporalio/activity';
import { reportIfMistake } from './failures';

export interface Heartbeat {
  /** Passes the details to the SDK, which decides when they are sent. */
  beat(): void;
  /** Stops the background heartbeats. */
  stop(): void;
}

const NO_HEARTBEAT: Heartbeat = { beat: () => undefined, stop: () => undefined };

/**
 * Sends a heartbeat every half heartbeat timeout until `stop`: the server times out a worker that hangs or dies, not
 * one that waits. Work that ends earlier costs the server none. Does nothing without a heartbeat timeout. A failed
 * heartbeat never fails the activity.
 * @param details what the next attempt needs; called before every heartbeat
 */
export function startHeartbeat(details: () => unknown = () => undefined): Heartbeat {
  const { heartbeatTimeoutMs } = activityInfo();
  if (heartbeatTimeoutMs === undefined || heartbeatTimeoutMs <= 0) return NO_HEARTBEAT;
  const context = Context.current();
  const beat = () => {
    try {
      context.heartbeat(details());
    } catch (error) {
      // Thrown in a timer, it would end the process.
      reportIfMistake(error);
      // The next heartbeat tries again, and the server's heartbeat timeout applies.
    }
  };
  const timer = setInterval(beat, Math.max(10, heartbeatTimeoutMs / 2));
  timer.unref();
  return { beat, stop: () => clearInterval(timer) };
}

/** Reports to the server about an attempt before its request is sent (docs/adr/0015). */
interface AcknowledgedHeartbeat {
  /** Sends the current details. `acknowledged`: the server has them, and nothing newer of this attempt. */
  notify(): Promise<Acknowledgement>;
  /** Stops the background heartbeats. */
  stop(): void;
}

/**
 * `stopped`: the server has answered that the attempt must end (canceled, paused, timed out, its workflow closed).
 * `unacknowledged`: it is unknown what the server has.
 */
export type Acknowledgement = 'acknowledged' | 'stopped' | 'unacknowledged';

/** Longest wait for the server, in milliseconds; it is part of the time of the send. */
const ANSWER_MS = 4_000;

interface AcknowledgedHeartbeatOptions {
  /** Called when a heartbeat is sent. */
  readonly details: () => object;
  /** Details of the SDK's own heartbeats: they may arrive late, so they must be true however old they are. */
  readonly careful: () => object;
  /** Whether the attempt has used all its time: background heartbeats then end, and the server times it out. */
  readonly isOver: () => boolean;
}

/**
 * Sends a heartbeat every half heartbeat timeout, and on every `notify`. The SDK sends its heartbeats some time later;
 * each of these is acknowledged before the next one is sent, so what the server has is never older than the last
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
      await send(details());
    } catch (error) {
      if (STOPS.has((error as Error).name)) return 'stopped';
      // It may still be in flight, and arrive after a later one.
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
      // The SDK gives up an attempt after the heartbeat timeout and five seconds without a heartbeat of its own.
      if (ticks % 2 === 0) context.heartbeat(careful());
    },
    Math.max(10, heartbeatTimeoutMs / 2),
  );
  timer.unref();
  return { notify, stop: () => clearInterval(timer) };
}

/** Names of the client's errors for the server's answer that the attempt must end. */
const STOPS: ReadonlySet<string> = new Set([
  'ActivityNotFoundError',
  'ActivityCancelledError',
  'ActivityPausedError',
  'ActivityResetError',
]);

function senderOf(context: Context): (details: object) => Promise<void> {
  const client = clientOf(context);
  // Only test environments have no client; they record a heartbeat at once. Those of a local activity reach no server.
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
