import { type WorkerOptions } from '@temporalio/worker';
import { CREATE_TIMEOUTS } from '../domain/timeouts';

/** The heartbeat with the id of a new task is sent at once instead of after a long throttle interval. */
export const HEARTBEATS = {
  maxHeartbeatThrottleInterval: '1 second',
  defaultHeartbeatThrottleInterval: '1 second',
} as const satisfies Partial<WorkerOptions>;

/**
 * For activities that stop on shutdown, such as downloads. A paid call in flight is finished however long it takes:
 * cutting it off would make its fate unknown (failure model: row 12).
 */
export const DRAIN = {
  shutdownGraceTime: CREATE_TIMEOUTS.httpBudgetMs + 15_000,
} as const satisfies Partial<WorkerOptions>;
