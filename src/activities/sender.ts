import { randomUUID } from 'node:crypto';
import { activityInfo } from '@temporalio/activity';
import {
  announcedIn,
  type GroupHeartbeat,
  PERHAPS,
  type SenderHeartbeat,
  taskIdIn,
} from '../domain/create-heartbeat';
import { type BindingStatus } from '../domain/journal';
import { CREATE_TIMEOUTS } from '../domain/timeouts';
import { atMostFor } from '../service/time-left';
import { type Acknowledgement, startAcknowledgedHeartbeat } from './heartbeat';
import { isLaterTry, type PaidDeps } from './paid-context';

/** One attempt at one paid call, with its heartbeats to the server. */
export interface Sender {
  readonly binding: BindingStatus;
  /** The intent that an earlier attempt's last heartbeat named; null if it named none. */
  readonly announced: string | null;
  /** The task that the last heartbeat reported as bought. */
  readonly knownTask: string | null;
  /** Reports the next request's intent to the server. Nothing may be sent unless it was `acknowledged`. */
  announce(nonce: string): Promise<Acknowledgement>;
  /** Reports the task's ID to the server, where it is read if the attempt is lost. */
  created(taskId: string): void;
  /**
   * Extends the attempt until this time, in milliseconds of `performance.now`. After that, heartbeats stop and the
   * server times out the attempt.
   */
  lastsUntil(time: number): void;
  /** Waits for work that must not delay an answer. Returns undefined once the attempt's time has expired. */
  inTime<T>(work: Promise<T>): Promise<T | undefined>;
}

/** Runs one paid call with its sender and its heartbeats. */
export async function withSender<T>(deps: PaidDeps, work: (sender: Sender) => Promise<T>): Promise<T> {
  return withSenders(deps, undefined, ([sender]) => work(sender as Sender));
}

/**
 * Like {@link withSender}, for the rows of a group by index. They share one heartbeat.
 * @param rows number of rows; undefined for a single call
 */
export async function withSenders<T>(
  deps: PaidDeps,
  rows: number | undefined,
  work: (senders: readonly Sender[]) => Promise<T>,
): Promise<T> {
  const before: unknown = activityInfo().heartbeatDetails;
  const lastHeartbeat = Array.from({ length: rows ?? 1 }, (_, row) => {
    const index = rows === undefined ? undefined : row;
    return { intent: announcedIn(before, index), taskId: taskIdIn(before, index) };
  });
  // Until this attempt announces something, its heartbeats repeat what an earlier attempt announced.
  const reported = lastHeartbeat.map((own) => ({ ...own }));
  const details = (unknown: string | null): SenderHeartbeat | GroupHeartbeat => {
    const intents = reported.map(({ intent }) => intent ?? unknown);
    const taskIds = reported.map(({ taskId }) => taskId);
    if (rows !== undefined) return { intents, taskIds };
    const [intent = null] = intents;
    const [taskId = null] = taskIds;
    return { intent, ...(taskId !== null && { taskId }) };
  };
  const perhaps = `${PERHAPS}${randomUUID()}`;
  let lasts = performance.now() + CREATE_TIMEOUTS.prepareMs;
  let isBound = false;
  // Binding a new queue may take a long time. Heartbeats keep the server from timing out the queue's first call.
  const heartbeat = startAcknowledgedHeartbeat({
    details: () => details(null),
    // Nothing is sent until the journal is known.
    careful: () => details(isBound ? perhaps : null),
    isOver: () => performance.now() > lasts,
  });
  try {
    // A later attempt checks again: a worker that missed a rebind would send with the earlier journal.
    const binding = await deps.checkBinding({ fresh: isLaterTry() });
    isBound = binding.bound;
    lasts = performance.now() + CREATE_TIMEOUTS.prepareMs;
    return await work(
      reported.map((own, index) => ({
        binding,
        announced: lastHeartbeat[index]?.intent ?? null,
        knownTask: lastHeartbeat[index]?.taskId ?? null,
        announce: (nonce) => {
          own.intent = nonce;
          own.taskId = null;
          return heartbeat.notify();
        },
        created: (taskId) => {
          own.taskId = taskId;
          void heartbeat.notify();
        },
        lastsUntil: (time) => {
          lasts = Math.max(lasts, time);
        },
        inTime: (write) => atMostFor(write, lasts - performance.now()),
      })),
    );
  } finally {
    heartbeat.stop();
  }
}
