import { randomUUID } from 'node:crypto';
import { activityInfo } from '@temporalio/activity';
import {
  type GroupHeartbeatDetails,
  PERHAPS,
  provesNotSent,
  type SenderHeartbeatDetails,
  type SenderHeartbeat,
  heartbeatOf,
} from '../domain/journal-proof';
import { type Standing } from '../domain/journal-binding';
import { type NotSent } from '../domain/paid-call';
import { CREATE_TIMEOUTS } from '../domain/timeouts';
import { type AnswerBase } from './paid-answers';
import { type Caller, type PaidDeps } from './paid-context';
import { type Acknowledgement, startAcknowledgedHeartbeat } from './acknowledged-heartbeat';
import { openSendAttempt } from './send-attempts';

/** One attempt of one paid call, with its heartbeats to the server. */
export interface Sender {
  readonly standing: Standing;
  /** Last heartbeat of the earlier attempts; null when there was none. */
  readonly before: SenderHeartbeat | null;
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

/** Without a journal nothing is proved, and nothing has to be bound. */
const WITHOUT_JOURNAL: Standing = { bound: true, journalId: '', boundSince: new Date(0).toISOString() };

export function standing({ journal, standing: ask }: PaidDeps, fresh = false): Promise<Standing> {
  return journal === 'none' ? Promise.resolve(WITHOUT_JOURNAL) : ask({ fresh });
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
  const heartbeatDetails: unknown = activityInfo().heartbeatDetails;
  const indexes = Array.from({ length: rows ?? 1 }, (_, index) => index);
  const before = indexes.map((index) =>
    heartbeatOf(heartbeatDetails, rows === undefined ? undefined : index),
  );
  // The intent of an earlier attempt is reported until this one writes its own.
  const sent = before.map((heartbeat) => ({
    intent: heartbeat?.intent ?? null,
    taskId: null as string | null,
  }));
  let journalId = before.find((heartbeat) => heartbeat !== null)?.journalId ?? '';
  let isAsking = true;
  const asBefore = heartbeatDetails ?? {};
  const details = (unknown: string | null): SenderHeartbeatDetails | GroupHeartbeatDetails => {
    const intents = sent.map(({ intent }) => intent ?? unknown);
    const taskIds = sent.map(({ taskId }) => taskId);
    if (rows !== undefined) return { journalId, intents, taskIds };
    const [intent = null] = intents;
    const [taskId = null] = taskIds;
    return { journalId, intent, ...(taskId !== null && { taskId }) };
  };
  const perhaps = `${PERHAPS}${randomUUID()}`;
  let lasts = performance.now() + CREATE_TIMEOUTS.prepareMs;
  // A new queue may take long to be bound: heartbeats keep the server from timing out its first call meanwhile.
  const heartbeat = startAcknowledgedHeartbeat({
    details: () => (isAsking ? asBefore : details(null)),
    careful: () => details(perhaps),
    isOver: () => performance.now() > lasts,
  });
  try {
    const stands = await standing(deps);
    if (!stands.bound) {
      // This worker sends nothing, so the heartbeat of the earlier attempts is restored, also after a careful one.
      void heartbeat.notify();
      heartbeat.stop();
      return await work(before.map((heartbeat) => silent(stands, heartbeat)));
    }
    ({ journalId } = stands);
    isAsking = false;
    lasts = performance.now() + CREATE_TIMEOUTS.prepareMs;
    // The announcement of the send is the first that the server has to hear, unless there is something to correct, or the
    // call is older than the binding: only the journal that it names then proves that it sent nothing.
    const isOlder = activityInfo().scheduledTimestampMs < Date.parse(stands.boundSince);
    if (heartbeat.hasReported() || isOlder) void heartbeat.notify();
    return await work(
      sent.map((own, index) => ({
        standing: stands,
        before: before[index] ?? null,
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
  } catch (error) {
    // The next attempt hears which journal this one had.
    if (!isAsking && !heartbeat.hasReported()) await heartbeat.notify();
    throw error;
  } finally {
    heartbeat.stop();
  }
}

/** The sender of a worker that sends nothing and reports nothing. */
function silent(standing: Standing, before: SenderHeartbeat | null): Sender {
  return {
    standing,
    before,
    announce: () => Promise.resolve('unacknowledged'),
    created: () => undefined,
    lastsUntil: () => undefined,
  };
}

/** An attempt of a call, and what its caller knows of earlier ones. */
export interface KnownCall {
  readonly creationKey: string;
  readonly sender: Sender;
  readonly sameKey?: true | undefined;
  readonly recordedSince?: string | undefined;
}

/** Whether an earlier send may be recorded in another journal, or lost from this one. */
export function isLost(
  { sender: { before }, sameKey, recordedSince }: KnownCall,
  { journalId, boundSince }: Extract<Standing, { bound: true }>,
  intents: readonly string[],
): boolean {
  if (sameKey === true && intents.length === 0) return true;
  // Heartbeats of attempts that only read say nothing about a send.
  const senders =
    recordedSince === undefined
      ? { lastHeartbeat: before, scheduledAt: boundSince }
      : { lastHeartbeat: null, scheduledAt: recordedSince };
  return !provesNotSent(senders, { journalId, boundSince, intents });
}

/** Whether no earlier attempt of this call, or of one before it, can have sent. */
export function isFirstTry(
  { attempt }: Pick<Caller, 'attempt'>,
  { sender, sameKey, recordedSince }: KnownCall,
): boolean {
  return attempt === 1 && sender.before === null && sameKey !== true && recordedSince === undefined;
}

/**
 * Whether nothing that may have been accepted was sent under the key of a call, in this journal or in another one.
 * Throws when the journal cannot be read: what it may hold is never called unsent (C4.4c).
 */
export async function isUnsent(
  { journal }: Pick<PaidDeps, 'journal'>,
  who: Caller,
  call: KnownCall,
  sendAttempt: number,
): Promise<boolean> {
  const { standing } = call.sender;
  if (!standing.bound) return isFirstTry(who, call);
  const { namespace, workflowId, runId, now } = who;
  const key = { namespace, creationKey: call.creationKey };
  const asker = { fingerprint: null, workflowId, runId, now };
  const opened = await openSendAttempt(journal, key, sendAttempt, asker);
  return opened.do === 'send' && !isLost(call, standing, opened.intents);
}

/** A request is not sent unless the server knows of it: if the journal were lost, no trace would remain. */
export function unannounced(base: AnswerBase, acknowledgement: Acknowledgement): NotSent | undefined {
  if (acknowledgement === 'acknowledged') return undefined;
  return {
    ...base,
    outcome: 'not_sent',
    sendAttemptUsed: true,
    permanent: false,
    ...(acknowledgement === 'stopped'
      ? { cause: 'worker_shutdown', message: 'The call was cancelled or paused before the request was sent.' }
      : {
          cause: 'server_not_notified',
          message: 'The Temporal server did not answer before the request, and nothing was sent.',
        }),
  };
}
