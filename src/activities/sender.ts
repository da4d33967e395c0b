import { randomUUID } from 'node:crypto';
import { activityInfo, Context } from '@temporalio/activity';
import {
  announcedIn,
  type GroupHeartbeat,
  PERHAPS,
  type SenderHeartbeat,
  taskIdIn,
} from '../domain/sender-trace';
import { type BindingStatus } from '../domain/journal';
import { CREATE_TIMEOUTS } from '../domain/timeouts';
import { type Caller, isLaterTry, type PaidDeps } from './paid-context';
import { type IntentEntry, type Send } from '../domain/log-entries';
import { type KeyState } from '../domain/paid-log';

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

/** Returns the result of the work, or undefined after `ms` milliseconds; the work continues. */
async function atMostFor<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  return Promise.race([work, over]).finally(() => clearTimeout(timer));
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

/** When one send may start, and when it must have ended, in milliseconds of `performance.now`. */
export interface SendWindow {
  /** Time of the whole exchange, in milliseconds. */
  readonly budgetMs: number;
  readonly sendBy: number;
  /** Includes everything that follows the reply. */
  readonly endsAt: number;
  /** When it began, by the clock of its times and by the wall clock. */
  readonly began: { readonly at: number; readonly wall: number };
}

/**
 * Returns the window of a send whose intent is written now. It follows from the time budget of the model, and never
 * exceeds the timeout of the activity.
 * @param afterMs time between the reply and the write of the outcome
 */
export function sendWindow(
  { startedAt, startToCloseMs, now }: Pick<Caller, 'startedAt' | 'startToCloseMs' | 'now'>,
  { budgetMs, afterMs }: { readonly budgetMs: number; readonly afterMs: number },
  began = { at: performance.now(), wall: now() },
): SendWindow {
  const closesAt = startedAt + startToCloseMs;
  const sendBy = Math.min(began.at + CREATE_TIMEOUTS.sendWithinMs, closesAt - budgetMs);
  return { budgetMs, sendBy, endsAt: Math.min(sendBy + budgetMs + afterMs, closesAt), began };
}

/**
 * Whether a send may no longer start, by either clock: a step back of the wall clock must not extend the window, and
 * the other clock stops while the machine is suspended.
 */
export function isTooLate({ sendBy, began }: SendWindow): boolean {
  // oxlint-disable-next-line house/no-wall-clock-durations -- counts while the machine is suspended
  return performance.now() > sendBy || Date.now() > inWallTime(sendBy, began);
}

/** The time after which no sender of this window is alive. */
export function certainlyOverAt({ endsAt }: SendWindow): number {
  return endsAt + CREATE_TIMEOUTS.zombieMarginMs;
}

/** {@link certainlyOverAt} by the wall clock, for other workers: in milliseconds since the Unix epoch. */
export function recordedEnd(window: SendWindow): number {
  return inWallTime(certainlyOverAt(window), window.began);
}

function inWallTime(time: number, { at, wall }: SendWindow['began']): number {
  return wall + time - at;
}

type Window = Pick<IntentEntry, 'at' | 'sendWindowEnd'>;

/**
 * Milliseconds in which the sender of an open intent may still record its answer; 0 or less when they have expired.
 * Never more than its whole window, because the clocks of two workers differ.
 */
export function timeLeft({ at, sendWindowEnd }: Window, now: number): number {
  const end = Date.parse(sendWindowEnd);
  return Math.min(end - now, end - Date.parse(at));
}

/** {@link timeLeft} of the open send of a key; 0 if there is none. Only an intent can be open. */
export function timeLeftOpen({ sends, open }: KeyState, now: number): number {
  return open === null ? 0 : timeLeft(sends[open]?.sent as IntentEntry, now);
}

/** {@link timeLeft} of a send of unknown fate that is sent once more under its key; 0 if it is not. */
export function timeLeftRepeated({ answer }: Send, now: number): number {
  if (answer?.repeatedUntil === undefined) return 0;
  return timeLeft({ at: answer.at, sendWindowEnd: answer.repeatedUntil }, now);
}

/** Whether the sender of the open intent still has time. */
export function mayBeAlive(state: KeyState, now: number): boolean {
  return timeLeftOpen(state, now) > 0;
}
