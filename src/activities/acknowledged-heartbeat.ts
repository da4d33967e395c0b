import { activityInfo, Context } from '@temporalio/activity';

/** Reports to the server about an attempt, before its request is sent (docs/adr/0015). */
export interface AcknowledgedHeartbeat {
  /** Sends the current details. `acknowledged` when the server has them, and nothing newer of this attempt. */
  notify(): Promise<Acknowledgement>;
  /** Stops the background heartbeats. */
  stop(): void;
}

/**
 * `stopped`: the server has answered that the attempt must end (cancelled, paused, timed out, its workflow closed).
 * `unacknowledged`: it is unknown what the server has.
 */
export type Acknowledgement = 'acknowledged' | 'stopped' | 'unacknowledged';

/** Longest wait for the server, in milliseconds: it is a part of the time of the send. */
const ANSWER_MS = 4_000;

export interface AcknowledgedHeartbeatOptions {
  /** Called when a heartbeat is sent. */
  readonly details: () => object;
  /** Details of the SDK's own heartbeats: they may arrive late, so that they must be true however old they are. */
  readonly careful: () => object;
  /** Whether the attempt has used all its time: background heartbeats then end, and the server times it out. */
  readonly isOver: () => boolean;
}

/**
 * Sends a heartbeat every half heartbeat timeout, and on every `notify`. Unlike a heartbeat of the SDK, which is sent
 * some time later, each of these is answered before the next one is sent: what the server has is never older than the
 * last report.
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
      // The SDK gives up an attempt when it has seen no heartbeat for the heartbeat timeout and five seconds.
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
  // Only test environments have no client, and they record a heartbeat at once; those of a local activity reach no
  // server.
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
