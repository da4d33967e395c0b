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
  /** The intent that the last heartbeat named, from an earlier try; null when there was none. */
  readonly announced: string | null;
  /** The task that it bought, as the last heartbeat named it. */
  readonly knownTask: string | null;
  /** Reports the intent of the next request to the server. Nothing may be sent unless it was `acknowledged`. */
  announce(nonce: string): Promise<Acknowledgement>;
  /** Reports the id of the task, which is read when the attempt is lost. */
  created(taskId: string): void;
  /**
   * Extends the time of the attempt, in milliseconds of `performance.now`. Then heartbeats end, and the server times it
   * out.
   */
  lastsUntil(time: number): void;
  /** Waits for work that must not keep an answer back: undefined once the time of the attempt is over. */
  inTime<T>(work: Promise<T>): Promise<T | undefined>;
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
  const lastHeartbeat = Array.from({ length: rows ?? 1 }, (_, row) => {
    const index = rows === undefined ? undefined : row;
    return { intent: announcedIn(before, index), taskId: taskIdIn(before, index) };
  });
  // What an earlier try announced is reported until this one announces its own.
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
  // A new queue may take long to be bound: heartbeats keep the server from timing out its first call meanwhile.
  const heartbeat = startAcknowledgedHeartbeat({
    details: () => details(null),
    // Until it knows its journal, nothing is sent.
    careful: () => details(isBound ? perhaps : null),
    isOver: () => performance.now() > lasts,
  });
  try {
    // A later try checks again: a worker that does not know of a rebind would send with the journal of before.
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

/** What the work brings, or undefined after a time in milliseconds; the work goes on. */
async function atMostFor<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  return Promise.race([work, over]).finally(() => clearTimeout(timer));
}

/** Reports to the server about an attempt, before its request is sent (docs/adr/0015). */
interface AcknowledgedHeartbeat {
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

interface AcknowledgedHeartbeatOptions {
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

/** When one send may start, and when all of it is over. Times are milliseconds of `performance.now`. */
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
 * The window of a send whose intent is written now. It follows from the time budget of the model, and never exceeds the
 * timeout of the activity.
 * @param afterMs what may follow the reply, before the outcome is written
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
 * Whether a send may no longer start, by either clock: a step of the wall clock back does not make it longer, and the
 * other one stands still while the machine is suspended.
 */
export function isTooLate({ sendBy, began }: SendWindow): boolean {
  // oxlint-disable-next-line house/no-wall-clock-durations -- counts while the machine is suspended
  return performance.now() > sendBy || Date.now() > inWallTime(sendBy, began);
}

/** The time after which no sender of this window is alive. */
export function certainlyOverAt({ endsAt }: SendWindow): number {
  return endsAt + CREATE_TIMEOUTS.zombieMarginMs;
}

/** The same by the wall clock, for other workers: in milliseconds since the Unix epoch. */
export function recordedEnd(window: SendWindow): number {
  return inWallTime(certainlyOverAt(window), window.began);
}

function inWallTime(time: number, { at, wall }: SendWindow['began']): number {
  return wall + time - at;
}

type Window = Pick<IntentEntry, 'at' | 'sendWindowEnd'>;

/**
 * Milliseconds that the sender of an open intent still has to record its answer; 0 or less when its time is over. Never
 * more than its whole window, whatever the clocks of two workers say.
 */
export function timeLeft({ at, sendWindowEnd }: Window, now: number): number {
  const end = Date.parse(sendWindowEnd);
  return Math.min(end - now, end - Date.parse(at));
}

/** The same of the open send of a key; 0 where there is none. Only an intent is ever open. */
export function timeLeftOpen({ sends, open }: KeyState, now: number): number {
  return open === null ? 0 : timeLeft(sends[open]?.sent as IntentEntry, now);
}

/** The same of a send of unknown fate that is sent once more under its key; 0 where it is not. */
export function timeLeftRepeated({ answer }: Send, now: number): number {
  if (answer?.repeatedUntil === undefined) return 0;
  return timeLeft({ at: answer.at, sendWindowEnd: answer.repeatedUntil }, now);
}

/** Whether the sender of the open intent still has time. */
export function mayBeAlive(state: KeyState, now: number): boolean {
  return timeLeftOpen(state, now) > 0;
}
