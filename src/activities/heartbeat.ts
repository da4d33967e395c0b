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
