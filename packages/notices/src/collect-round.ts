import { setTimeout as delay } from 'node:timers/promises';
import { activityInfo, cancellationSignal, log } from '@temporalio/activity';
import { type Client } from '@temporalio/client';
import { isGrpcNotFound } from 'temporal-media/internal/client/workflow-service';
import { throwBug } from 'temporal-media/internal/domain/bug';
import { type CreateJournal } from 'temporal-media/stores';
import { type Notice, type NoticePlace } from './notice';

/** Time for one read, in milliseconds: one that hangs would end the heartbeats, and with them the round. */
const READ_MS = 10_000;

/** One search for events. Everything that it finds is posted. */
export interface CollectRound {
  readonly client: Client;
  readonly place: NoticePlace;
  /** Opens the journal. Undefined if this machine has none. */
  readonly journal: () => Promise<CreateJournal | undefined>;
  /** Workflow time, in milliseconds since the Unix epoch. */
  readonly now: number;
  /** Reports progress, and throws if the worker stops. */
  readonly beat: () => void;
  /** Whether ended executions have had their share of this round. The next round continues with them. */
  readonly isOver: () => boolean;
  /** Whether this process has not yet posted an execution's notices. */
  readonly isNew: (runId: string) => boolean;
  /** Records that all notices of an execution were posted. */
  readonly done: (runId: string) => void;
  /** Whether an execution that closed at this time was unreadable for so long that it is reported without its facts. */
  readonly givesUp: (closedAt: number) => boolean;
  /** Starts the delivery of a notice, unless it was started before. */
  readonly post: (notice: Notice) => Promise<void>;
  /** Reports that the service refuses an account's calls. */
  readonly closed: (account: string, reason: string) => void;
}

/** Lets one source fail without the others: the next round reads it again. */
export async function orLater<T>(what: string, otherwise: T, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throwBug(error);
    if (cancellationSignal().aborted) throw error;
    const { name } = error as Error;
    log.warn(`Notices could not ${what}; they will try again`, {
      error: name,
      attempt: activityInfo().attempt,
    });
    return otherwise;
  }
}

/**
 * Returns what `read` returns; undefined if it does not exist anymore, or cannot be read for a long time. A codec, a
 * storage or the journal may only be down for a moment, so until then its error makes the next round try again.
 */
export async function readOrGiveUp<T>(
  round: Pick<CollectRound, 'beat' | 'givesUp'>,
  closedAt: number,
  read: () => Promise<T>,
): Promise<T | undefined> {
  const late = new AbortController();
  const limit = delay(READ_MS, undefined, { signal: late.signal }).then(() => {
    throw new Error('This took too long.');
  });
  try {
    return await Promise.race([read(), limit]);
  } catch (error) {
    throwBug(error);
    round.beat();
    if (!isGrpcNotFound(error) && !round.givesUp(closedAt)) throw error;
    return undefined;
  } finally {
    late.abort();
  }
}
