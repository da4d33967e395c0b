import { activityInfo, Context } from '@temporalio/activity';

/** What the server is told of an attempt before its request leaves (docs/adr/0015). */
export interface AcknowledgedHeartbeat {
  /** Resolves when the server has the details as they are now, and has no later news of this attempt. */
  notify(): Promise<Acknowledgement>;
  /** Ends the background beats. */
  stop(): void;
}

/**
 * `stopped`: the server has it, and wants the attempt no more (cancelled, paused, timed out, its workflow closed).
 * `unacknowledged`: nobody knows what the server has.
 */
export type Acknowledgement = 'acknowledged' | 'stopped' | 'unacknowledged';

/** Longest wait for the server: it is a part of the time that the send has. */
const ANSWER_MS = 4_000;

export interface AcknowledgedHeartbeatOptions {
  /** Asked when a beat leaves. */
  readonly details: () => object;
  /** What the SDK's own beats carry: they may arrive late, so that they must be true however old they are. */
  readonly careful: () => object;
  /** The attempt has had all the time that it may take: it beats by itself no more, and the server gives it up. */
  readonly isOver: () => boolean;
}

/**
 * Beats every half heartbeat timeout, and whenever it is asked to. Unlike a heartbeat of the SDK, which
 * travels some time later, each of these is answered before the next one leaves: what the server has is never older than
 * what was told last.
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
      // It may still be under way, and arrive after a later one.
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
      // The SDK gives an attempt up of which it has seen no beat for the heartbeat timeout and five seconds.
      if (ticks % 2 === 0) context.heartbeat(careful());
    },
    Math.max(10, heartbeatTimeoutMs / 2),
  );
  timer.unref();
  return { notify, stop: () => clearInterval(timer) };
}

/** Names of what the client throws where the server answers that it wants the attempt no more. */
const STOPS: ReadonlySet<string> = new Set([
  'ActivityNotFoundError',
  'ActivityCancelledError',
  'ActivityPausedError',
  'ActivityResetError',
]);

function senderOf(context: Context): (details: object) => Promise<void> {
  const client = clientOf(context);
  // Only environments for tests have no client, and hear a beat at once; a local activity is not heard at all.
  if (client === undefined || context.info.isLocal) return async (details) => context.heartbeat(details);
  const { taskToken } = context.info;
  return (details) =>
    client.withDeadline(Date.now() + ANSWER_MS, () => client.activity.heartbeat(taskToken, details));
}

function clientOf(context: Context): Context['client'] | undefined {
  try {
    return context.client;
  } catch {
    return undefined;
  }
}
