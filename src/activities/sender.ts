import { randomUUID } from 'node:crypto';
import { activityInfo } from '@temporalio/activity';
import { announcedIn, type GroupHeartbeat, PERHAPS, type SenderHeartbeat } from '../domain/sender-trace';
import { type Standing } from '../domain/journal-binding';
import { CREATE_TIMEOUTS } from '../domain/timeouts';
import { isLaterTry, type PaidDeps } from './paid-context';
import { type Acknowledgement, startAcknowledgedHeartbeat } from './acknowledged-heartbeat';

/** One try of one paid call, with its heartbeats to the server. */
export interface Sender {
  readonly standing: Standing;
  /** The intent that the server last heard of, from an earlier try; null when there was none. */
  readonly announced: string | null;
  /** Reports the intent of the next request to the server. Nothing may be sent unless it was `acknowledged`. */
  announce(nonce: string): Promise<Acknowledgement>;
  /** Reports the id of the task, which is read when the attempt is lost. */
  created(taskId: string): void;
  /**
   * Extends the time of the attempt, in milliseconds of `performance.now`. Then heartbeats end, and the server times it
   * out.
   */
  lastsUntil(time: number): void;
}

/** Runs one paid call with its sender: heartbeats go on until it ends. */
export async function withSender<T>(deps: PaidDeps, work: (sender: Sender) => Promise<T>): Promise<T> {
  return withSenders(deps, undefined, ([sender]) => work(sender as Sender));
}

/**
 * The same for the rows of a group, by index: they share one heartbeat.
 * @param rows their number; undefined for a single call
 */
export async function withSenders<T>(
  deps: PaidDeps,
  rows: number | undefined,
  work: (senders: readonly Sender[]) => Promise<T>,
): Promise<T> {
  const before: unknown = activityInfo().heartbeatDetails;
  const announced = Array.from({ length: rows ?? 1 }, (_, index) =>
    announcedIn(before, rows === undefined ? undefined : index),
  );
  // What an earlier try announced is reported until this one announces its own.
  const told = announced.map((intent) => ({ intent, taskId: null as string | null }));
  const details = (unknown: string | null): SenderHeartbeat | GroupHeartbeat => {
    const intents = told.map(({ intent }) => intent ?? unknown);
    const taskIds = told.map(({ taskId }) => taskId);
    if (rows !== undefined) return { intents, taskIds };
    const [intent = null] = intents;
    const [taskId = null] = taskIds;
    return { intent, ...(taskId !== null && { taskId }) };
  };
  const perhaps = `${PERHAPS}${randomUUID()}`;
  let lasts = performance.now() + CREATE_TIMEOUTS.prepareMs;
  let isBound = false;
  // A new queue may take long to be bound: heartbeats keep the server from timing out its first call meanwhile.
  const heartbeat = startAcknowledgedHeartbeat({
    details: () => details(null),
    // Until it knows its journal, nothing is sent.
    careful: () => details(isBound ? perhaps : null),
    isOver: () => performance.now() > lasts,
  });
  try {
    // A try after another one asks anew: a worker that has not heard of a rebind would send with the journal of before.
    const stands = await deps.standing({ fresh: isLaterTry() });
    isBound = stands.bound;
    lasts = performance.now() + CREATE_TIMEOUTS.prepareMs;
    return await work(
      told.map((own, index) => ({
        standing: stands,
        announced: announced[index] ?? null,
        announce: (nonce) => {
          own.intent = nonce;
          return heartbeat.notify();
        },
        created: (taskId) => {
          own.taskId = taskId;
          void heartbeat.notify();
        },
        lastsUntil: (time) => {
          lasts = Math.max(lasts, time);
        },
      })),
    );
  } finally {
    heartbeat.stop();
  }
}
