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

/** One try of one paid call, with its heartbeats to the server. */
export interface Sender {
  readonly binding: BindingStatus;
  /** The intent that the last heartbeat of an earlier try named; null if there was none. */
  readonly announced: string | null;
  /** The task that the last heartbeat named as bought. */
  readonly knownTask: string | null;
  /** Reports the intent of the next request to the server. Nothing may be sent unless it was `acknowledged`. */
  announce(nonce: string): Promise<Acknowledgement>;
  /** Reports the id of the task. It is read if the attempt is lost. */
  created(taskId: string): void;
  /**
   * Extends the time of the attempt, in milliseconds of `performance.now`. After it heartbeats end, and the server
   * times the attempt out.
   */
  lastsUntil(time: number): void;
  /** Waits for work that must not delay an answer: undefined once the time of the attempt has expired. */
  inTime<T>(work: Promise<T>): Promise<T | undefined>;
}

/** Runs one paid call with its sender and its heartbeats. */
export async function withSender<T>(deps: PaidDeps, work: (sender: Sender) => Promise<T>): Promise<T> {
  return withSenders(deps, undefined, ([sender]) => work(sender as Sender));
}

/**
 * {@link withSender} for the rows of a group, by index: they share one heartbeat.
 * @param rows their number; undefined for a single call
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
  // What an earlier try announced is reported until this one announces something.
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
  // Binding a new queue may take long: heartbeats keep the server from timing out its first call.
  const heartbeat = startAcknowledgedHeartbeat({
    details: () => details(null),
    // Nothing is sent until the journal is known.
    careful: () => details(isBound ? perhaps : null),
    isOver: () => performance.now() > lasts,
  });
  try {
    // A later try checks again: a worker that missed a rebind would send with the earlier journal.
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
