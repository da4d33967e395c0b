import { activityInfo } from '@temporalio/activity';
import {
  type GroupBeat,
  PERHAPS,
  provesNotSent,
  type SenderBeat,
  type SenderWord,
  wordOf,
} from '../domain/journal-proof';
import { type Standing } from '../domain/journal';
import { type NotSent } from '../domain/paid-call';
import { CREATE_TIMEOUTS } from '../domain/timeouts';
import { type AnswerBase } from './paid-answers';
import { type PaidDeps } from './paid-context';
import { type Heard, startWitness } from './witness';

/** One attempt of one paid call, as the server hears of it. */
export interface Sender {
  readonly standing: Standing;
  /** Last word of the attempts before this one; null when there was none. */
  readonly before: SenderWord | null;
  /** Tells the server under which intent a request is about to leave. Nothing may leave unless it was `told`. */
  announce(nonce: string): Promise<Heard>;
  /** Tells it the id of the task, for whoever looks at a dead attempt. */
  created(taskId: string): void;
  /** Until when the attempt may take, in milliseconds since the epoch: one that hangs beats no longer, and is given up. */
  lastsUntil(time: number): void;
}

/** Without a journal nothing proves anything, and nothing has to be bound. */
const WITHOUT_JOURNAL: Standing = { bound: true, journalId: '', boundSince: new Date(0).toISOString() };

export function standing({ journal, standing: ask }: PaidDeps, fresh = false): Promise<Standing> {
  return journal === 'none' ? Promise.resolve(WITHOUT_JOURNAL) : ask({ fresh });
}

/** Runs one paid call with its sender: the server hears of it at once, and until it has ended. */
export async function withSender<T>(deps: PaidDeps, work: (sender: Sender) => Promise<T>): Promise<T> {
  return withSenders(deps, undefined, ([sender]) => work(sender as Sender));
}

/**
 * The same for the rows of a group, by place: they share one heartbeat.
 * @param rows their number; undefined for a call that is alone
 */
export async function withSenders<T>(
  deps: PaidDeps,
  rows: number | undefined,
  work: (senders: readonly Sender[]) => Promise<T>,
): Promise<T> {
  const heartbeatDetails: unknown = activityInfo().heartbeatDetails;
  const places = Array.from({ length: rows ?? 1 }, (_, place) => place);
  const before = places.map((place) => wordOf(heartbeatDetails, rows === undefined ? undefined : place));
  // What an attempt before this one said stands until this one writes an intent of its own.
  const words = before.map((word) => ({ intent: word?.intent ?? null, taskId: null as string | null }));
  let journalId = before.find((word) => word !== null)?.journalId ?? '';
  let isAsking = true;
  const asBefore = heartbeatDetails ?? {};
  const details = (unknown: string | null): SenderBeat | GroupBeat => {
    const intents = words.map(({ intent }) => intent ?? unknown);
    const taskIds = words.map(({ taskId }) => taskId);
    if (rows !== undefined) return { journalId, intents, taskIds };
    const [intent = null] = intents;
    const [taskId = null] = taskIds;
    return { journalId, intent, ...(taskId !== null && { taskId }) };
  };
  let lasts = Date.now() + CREATE_TIMEOUTS.prepareMs;
  // A queue that is new may take long to be bound: the server must not give its first call up meanwhile.
  const witness = startWitness({
    details: () => (isAsking ? asBefore : details(null)),
    careful: () => details(PERHAPS),
    isOver: () => Date.now() > lasts,
  });
  try {
    const stands = await standing(deps);
    if (!stands.bound) {
      // Where this worker sends nothing, the word of the attempts before stays as it is: also after a careful beat.
      void witness.tell();
      witness.stop();
      return await work(before.map((word) => silent(stands, word)));
    }
    ({ journalId } = stands);
    isAsking = false;
    lasts = Date.now() + CREATE_TIMEOUTS.prepareMs;
    void witness.tell();
    return await work(
      words.map((word, place) => ({
        standing: stands,
        before: before[place] ?? null,
        announce: (nonce) => {
          word.intent = nonce;
          return witness.tell();
        },
        created: (taskId) => {
          word.taskId = taskId;
          void witness.tell();
        },
        lastsUntil: (time) => {
          lasts = Math.max(lasts, time);
        },
      })),
    );
  } finally {
    witness.stop();
  }
}

/** Of a worker that sends nothing, and has nothing to tell. */
function silent(standing: Standing, before: SenderWord | null): Sender {
  return {
    standing,
    before,
    announce: () => Promise.resolve('unheard'),
    created: () => undefined,
    lastsUntil: () => undefined,
  };
}

interface LostCall {
  readonly sender: Sender;
  readonly sameKey?: true | undefined;
  readonly recordedSince?: string | undefined;
}

/** Whether a send before this one stands in a journal that is not this one any more. */
export function isLost(
  { sender: { before }, sameKey, recordedSince }: LostCall,
  { journalId, boundSince }: Extract<Standing, { bound: true }>,
  intents: readonly string[],
): boolean {
  if (sameKey === true && intents.length === 0) return true;
  // Attempts that only look tell nothing of a send.
  const senders =
    recordedSince === undefined
      ? { heard: before, scheduledAt: boundSince }
      : { heard: null, scheduledAt: recordedSince };
  return !provesNotSent(senders, { journalId, boundSince, intents });
}

/** A request of which the server knows nothing must not leave: with this journal every trace of it could be lost. */
export function unannounced(base: AnswerBase, heard: Heard): NotSent | undefined {
  if (heard === 'told') return undefined;
  return {
    ...base,
    outcome: 'not_sent',
    epochUsed: true,
    permanent: false,
    ...(heard === 'stopped'
      ? { cause: 'worker_shutdown', message: 'The call was cancelled or paused before the request was sent.' }
      : {
          cause: 'server_unheard',
          message: 'The Temporal server did not answer before the request, and nothing was sent.',
        }),
  };
}
