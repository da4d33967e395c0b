import {
  ActivityFailure,
  CancellationScope,
  isCancellation,
  sleep,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import { otherwise, throwBug } from '../domain/bug';

/** When an activity was scheduled, and how long it may wait for a worker. */
export interface StartWait {
  /** Workflow time in milliseconds. */
  readonly since: number;
  readonly limitMs: number;
}

/** How late the server's timers and the delivery to a workflow worker can be in total, in milliseconds. */
const LATE_MS = 10_000;

/**
 * Whether the server timed out an activity before any worker received it, so that nothing was sent. An activity that
 * timed out later than its limit may have started, so the caller looks it up.
 */
export function neverStarted(cause: unknown, { since, limitMs }: StartWait): boolean {
  return isUntaken(cause) && Date.now() - since <= limitMs + LATE_MS;
}

/**
 * Whether no worker received an activity's last attempt and the failure shows no earlier attempt. The limit applies to
 * every attempt. An attempt that started leaves a heartbeat and a failure, but an operator's reset removes both and
 * restarts the limit.
 */
export function isUntaken(cause: unknown): boolean {
  if (!(cause instanceof TimeoutFailure) || cause.timeoutType !== 'SCHEDULE_TO_START') return false;
  // The converter drops a timeout's cause. Only the server's original failure contains it.
  return cause.lastHeartbeatDetails == null && cause.failure?.cause == null;
}

/**
 * Wakes a loop at the earliest requested time. Timers are never canceled: an unneeded timer adds less to the history
 * than canceling and restarting a timer at every change.
 */
export class Alarm {
  private nextAt = Infinity;
  /** Time of the latest timer that has fired. */
  private firedAt = 0;

  constructor(private readonly wake: () => void) {}

  /** Returns workflow time, but never earlier than the latest timer that has fired: see `PollLoop`. */
  now(): number {
    return Math.max(Date.now(), this.firedAt);
  }

  /** Requests a wake-up. @param time workflow time in milliseconds */
  at(time: number): void {
    // One second is precise enough, and lets nearby times share a timer.
    const rounded = Math.ceil(time / 1000) * 1000;
    if (rounded >= this.nextAt) return;
    this.nextAt = rounded;
    void sleep(Math.max(1, rounded - Date.now()), { summary: 'check again' }).then(
      () => {
        this.firedAt = Math.max(this.firedAt, rounded);
        if (this.nextAt === rounded) this.nextAt = Infinity;
        this.wake();
      },
      // The workflow was canceled, and its loop ends on its own.
      () => undefined,
    );
  }
}

/** In milliseconds. */
interface RaceLimits {
  /** Maximum time that the server may take. */
  readonly limitMs: number;
  /**
   * Limit once the caller is canceled. The server drops activities that no worker has received, so at most one running
   * attempt can continue.
   */
  readonly afterCancelMs: number;
  readonly summary: string;
}

/**
 * Resolves to the work's result, or to `lost` if this workflow's own timer fires first. Some operator commands leave an
 * activity without any timeout (failure model: What Temporal runs again). The timers outlive the caller's cancellation,
 * because the work is still awaited. If a worker was killed while its activity was paused, `afterCancelMs` keeps a
 * canceled caller from waiting a day for it.
 */
export async function raceTimer<T>(work: Promise<T>, limits: RaceLimits): Promise<T | 'lost'> {
  const { limitMs, afterCancelMs, summary } = limits;
  const caller = CancellationScope.current();
  const shelter = new CancellationScope({ cancellable: false });
  const timer = new CancellationScope({ cancellable: true, parent: shelter });
  const lost = (ms: number): Promise<'lost' | undefined> =>
    timer.run(() => sleep(ms, { summary })).then(() => 'lost' as const, otherwise(undefined));
  const races: Promise<{ readonly value: T } | 'lost' | undefined>[] = [
    work.then((value) => ({ value })),
    lost(limitMs),
  ];
  if (caller.cancellable)
    races.push(
      caller.cancelRequested.catch((error: unknown) => {
        throwBug(error);
        return lost(afterCancelMs);
      }),
    );
  const first = await Promise.race(races);
  timer.cancel();
  if (first === 'lost') return 'lost';
  return first === undefined ? work : first.value;
}

/** Like `CancellationScope.withTimeout`, with the same commands in the same order, but its timer has a summary. */
export async function withTimeLimit<T>(limitMs: number, summary: string, work: () => Promise<T>): Promise<T> {
  const limited = new CancellationScope({ cancellable: true });
  return limited.run(async () => {
    const timer = new CancellationScope({ cancellable: true });
    void timer
      .run(() => sleep(limitMs, { summary }))
      .then(
        () => limited.cancel(),
        () => undefined,
      );
    try {
      return await work();
    } finally {
      timer.cancel();
    }
  });
}

/** Returns when this execution or this run expires, in milliseconds of workflow time; null if neither does. */
export function executionExpiresAt(): number | null {
  const info = workflowInfo();
  const ends: number[] = [];
  if (info.executionExpirationTime !== undefined) ends.push(info.executionExpirationTime.getTime());
  if (info.runTimeoutMs !== undefined && info.runTimeoutMs > 0)
    ends.push(info.runStartTime.getTime() + info.runTimeoutMs);
  return ends.length === 0 ? null : Math.min(...ends);
}

/** Delay before an activity is started again, in milliseconds. */
const AGAIN_MS = 10_000;

/**
 * Waits after an operator has failed an activity that would otherwise be retried without limit. The caller then starts
 * the activity again, because no purchase may be forgotten. Call this in the `catch` block itself: another promise
 * around the activity would change the order of commands in older histories.
 * @throws the error if it is not an activity failure or the workflow is canceled
 */
export async function failedByHand(error: unknown): Promise<void> {
  if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
  await sleep(AGAIN_MS);
}

/** Rejection handler for work that is not awaited. A canceled workflow ends without it. */
export function unlessCancelled(error: unknown): void {
  if (!isCancellation(error)) throw error;
}
