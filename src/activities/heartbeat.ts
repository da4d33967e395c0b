import { activityInfo, Context } from '@temporalio/activity';

export interface Heartbeat {
  /** Sends the details now; the SDK decides when they travel. */
  beat(): void;
  /** Ends the background beats. */
  stop(): void;
}

const NO_HEARTBEAT: Heartbeat = { beat: () => undefined, stop: () => undefined };

/**
 * Beats at once, then every half heartbeat timeout, until `stop`: a worker that hangs or dies is noticed, one that
 * waits is not. Does nothing without a heartbeat timeout. A beat that fails never fails the activity.
 * @param details what a next attempt needs; asked before every beat
 */
export function startHeartbeat(details: () => unknown = () => undefined): Heartbeat {
  const { heartbeatTimeoutMs } = activityInfo();
  if (heartbeatTimeoutMs === undefined || heartbeatTimeoutMs <= 0) return NO_HEARTBEAT;
  const context = Context.current();
  const beat = () => {
    try {
      context.heartbeat(details());
    } catch {
      // Nothing to do: the next beat tries again, and the server's timeout validates.
    }
  };
  beat();
  const timer = setInterval(beat, Math.max(10, heartbeatTimeoutMs / 2));
  timer.unref();
  return { beat, stop: () => clearInterval(timer) };
}
