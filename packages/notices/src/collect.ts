import { activityInfo, cancellationSignal, getClient, heartbeat, log } from '@temporalio/activity';
import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { LRUCache } from 'lru-cache';
import { throwBug } from 'temporal-media/internal/domain/bug';
import { type Send } from 'temporal-media/internal/domain/log-entries';
import { STARTED_BY } from 'temporal-media/internal/domain/names';
import { type CreateJournal } from 'temporal-media/stores';
import { findEnded, type CollectRound } from './ended-calls';
import { type Endpoint } from './endpoints';
import { readOn } from './journal-notices';
import { type LimitedAccount, limitNotices, type LimitSearch, limitWindows } from './money-notices';
import { deliveryId, makeNotice, type Notice, type NoticePlace, noticesQueue } from './notice';
import { findOpen } from './open-calls';
import {
  type CollectInput,
  type CollectorState,
  type DeliveryInput,
  type NoticeActivities,
} from './workflows';

/** How far back a round reads, because a server lists an execution only some time after it has closed. */
const OVERLAP_MS = 5 * 60_000;
/** How far the first round after a long time without a worker reads back. */
const LONGEST_MS = 3 * 24 * 60 * 60_000;
/** An account counts as closed until it was not seen closed for this long. The service is asked every 15 minutes. */
const CLOSED_FOR_MS = 30 * 60_000;
/** How many rounds a call has to be open before it is queried. */
const ROUNDS_BEFORE_QUERIES = 4;
/** Executions and notices of which a process remembers that they were posted. */
const REMEMBERED = 100_000;

/** What the collector needs from its worker. */
export interface CollectParts {
  readonly place: NoticePlace;
  /** @throws ConfigurationError */
  readonly endpoints: () => readonly Endpoint[];
  /** Undefined if this machine has none. */
  readonly journal: () => Promise<CreateJournal | undefined>;
  /** The accounts whose limits are watched. @throws ConfigurationError */
  readonly accounts: () => readonly LimitedAccount[];
  /** Milliseconds between two rounds. */
  readonly everyMs: number;
  readonly pauses: DeliveryInput['pauses'];
}

/** Starts the workflow that delivers a notice to an endpoint. Its id contains both, so the server starts it only once. */
export async function startDelivery(
  client: Client,
  { taskQueue }: NoticePlace,
  notice: Notice,
  endpoint: Endpoint,
  pauses: DeliveryInput['pauses'],
): Promise<void> {
  const input: DeliveryInput = { notice, endpoints: [endpoint.id], pauses };
  try {
    await client.workflow.start('deliverNotice', {
      ...{ workflowId: deliveryId(notice, endpoint), taskQueue: noticesQueue(taskQueue) },
      ...{ args: [input], memo: STARTED_BY, workflowIdReusePolicy: 'REJECT_DUPLICATE' },
      staticSummary: notice.type,
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

/**
 * Creates the activity that looks for events and starts their deliveries. It may run again, or two of it at once: an event
 * always has the same id.
 */
export function createCollect(parts: CollectParts): NoticeActivities['notices.collect'] {
  const posted = new LRUCache<string, true>({ max: REMEMBERED });
  let accounts: readonly LimitedAccount[] = [];
  return async ({ state, now }) => {
    const { place, everyMs } = parts;
    const endpoints = parts.endpoints();
    const [client, signal] = [getClient(), cancellationSignal()];
    const closed = new Map<string, string>();
    const journal = await orLater('open the journal', undefined, parts.journal);
    const ended = new Set<string>();
    const round: CollectRound = {
      ...{ client, place, journal, now, since: Math.max(state.since, now - LONGEST_MS) },
      beat: () => {
        heartbeat();
        signal.throwIfAborted();
      },
      isNew: (runId) => {
        ended.add(runId);
        return !posted.has(runId);
      },
      post: async (notice) => {
        for (const endpoint of endpoints) {
          const id = deliveryId(notice, endpoint);
          if (!endpoint.wants(notice.type) || posted.has(id)) continue;
          await startDelivery(client, place, notice, endpoint, parts.pauses);
          posted.set(id, true);
        }
      },
      closed: (account, reason) => void closed.set(account, reason),
    };
    const earliest = Math.max(round.since - OVERLAP_MS, state.begun);
    await findEnded(round, earliest);
    // Only now: an attempt that failed in between finds them again.
    for (const runId of ended) posted.set(runId, true);
    const full = await orLater('query open calls', [], () =>
      findOpen(round, ROUNDS_BEFORE_QUERIES * everyMs),
    );
    round.beat();
    const { journal: after, journalAt } = state;
    const unread = { journal: after, journalAt };
    const sends: Send[] = [];
    // Older ones are reported by the rounds of their time, or not at all after a long outage.
    const isRecent = (at: number): boolean => at >= Math.max(now - LONGEST_MS, state.begun);
    const onSend = (send: Send): void => void (isRecent(Date.parse(send.sent.at)) && sends.push(send));
    const read = await orLater('read the journal', unread, async () =>
      journal === undefined ? unread : readOn({ ...round, journal, everyMs, onSend }, state),
    );
    // Paid calls keep to the accounts that were read last, too.
    accounts = await orLater('read the accounts', accounts, async () => parts.accounts());
    const search = { since: earliest, now, full, sends };
    await orLater('read spend limits', undefined, () => postLimits(round, accounts, search));
    const next = await postClosed(round, state, closed);
    return { state: { ...state, since: now, ...read, closed: next }, pauseMs: everyMs };
  };
}

/** Posts the limits that calls have reached. What cannot be read is read again by the next round. */
async function postLimits(
  { journal, place, beat, post }: CollectRound,
  accounts: readonly LimitedAccount[],
  search: LimitSearch,
): Promise<void> {
  if (journal === undefined) return;
  let damaged: Error | undefined;
  for (const window of limitWindows(accounts, search)) {
    beat();
    try {
      for (const notice of await limitNotices(journal, place, window, search)) await post(notice);
    } catch (error) {
      // This concerns one limit. The journal being down would concern all of them.
      if ((error as Error).name !== 'JournalRecordError') throw error;
      damaged = error as Error;
    }
  }
  if (damaged !== undefined) throw damaged;
}

/** Posts the accounts that were found closed, once for each time that they close. Returns all that count as closed. */
async function postClosed(
  { place, now, post }: CollectRound,
  { closed: before }: CollectInput['state'],
  found: ReadonlyMap<string, string>,
): Promise<CollectorState['closed']> {
  const closed = new Map(Object.entries(before).filter(([, { seen }]) => now - seen < CLOSED_FOR_MS));
  for (const [account, reason] of found) {
    const since = closed.get(account)?.since ?? now;
    closed.set(account, { since, seen: now });
    const data = { account, reason, command: 'temporal-media doctor' };
    await post(makeNotice(place, 'account.closed', [place.taskQueue, account, since], since, data));
  }
  return Object.fromEntries(closed);
}

/** Lets one source fail without the others: the next round reads it again. */
async function orLater<T>(what: string, otherwise: T, work: () => Promise<T>): Promise<T> {
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
