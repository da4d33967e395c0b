import { cancellationSignal, getClient, heartbeat, log } from '@temporalio/activity';
import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { LRUCache } from 'lru-cache';
import { type Send } from 'temporal-media/internal/domain/log-entries';
import { STARTED_BY } from 'temporal-media/internal/domain/names';
import { type CreateJournal } from 'temporal-media/stores';
import { type CollectRound, orLater } from './collect-round';
import { findEnded } from './ended-calls';
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
/** How much of a round ended executions may take. After an outage, the next rounds continue with them. */
const ENDED_MS = 60_000;
/** How long an execution is read again before it is reported without what it returned. */
const LATER_MS = 30 * 60_000;
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
  const input: DeliveryInput = { notice, endpoint: endpoint.id, pauses };
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
  // Kept until they are posted: the calls that showed them are not read again.
  const closed = new Map<string, string>();
  let accounts: readonly LimitedAccount[] = [];
  return async ({ state, now }) => {
    const { place, everyMs } = parts;
    const endpoints = parts.endpoints();
    const [client, signal] = [getClient(), cancellationSignal()];
    // Whatever needs the journal handles that it cannot be opened.
    const journal = parts.journal();
    journal.catch(() => undefined);
    const overAt = performance.now() + ENDED_MS;
    const round: CollectRound = {
      ...{ client, place, journal: () => journal, now },
      beat: () => {
        heartbeat();
        signal.throwIfAborted();
      },
      isOver: () => performance.now() > overAt,
      isNew: (runId) => !posted.has(runId),
      done: (runId) => void posted.set(runId, true),
      givesUp: (closedAt) => now - Math.max(closedAt, state.laterSince ?? now) >= LATER_MS,
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
    const earliest = Math.max(state.since - OVERLAP_MS, now - LONGEST_MS, state.begun);
    const left = await findEnded(round, earliest);
    if (left.failed > 0)
      log.warn('Notices could not report calls that have ended; they will try again', { calls: left.failed });
    const full = await orLater('query open calls', [], () =>
      findOpen(round, ROUNDS_BEFORE_QUERIES * everyMs),
    );
    round.beat();
    const sends: Send[] = [];
    // Older ones are reported by the rounds of their time, or not at all after a long outage.
    const isRecent = (at: number): boolean => at >= Math.max(now - LONGEST_MS, state.begun);
    const onSend = (send: Send): void => void (isRecent(Date.parse(send.sent.at)) && sends.push(send));
    const { journal: after, journalAt } = state;
    const unread = { journal: after, journalAt };
    const read = await orLater('read the journal', unread, async () => {
      const opened = await journal;
      return opened === undefined ? unread : readOn({ ...round, journal: opened, everyMs, onSend }, state);
    });
    // Paid calls keep to the accounts that were read last, too.
    accounts = await orLater('read the accounts', accounts, async () => parts.accounts());
    const search = { since: earliest, now, full, sends };
    await orLater('read spend limits', undefined, () => postLimits(round, accounts, search));
    const next = await postClosed(round, state, closed);
    closed.clear();
    const since = Math.min(now, left.from + OVERLAP_MS);
    const laterSince = left.failed > 0 ? (state.laterSince ?? now) : undefined;
    return { state: { ...state, since, laterSince, ...read, closed: next }, pauseMs: everyMs };
  };
}

/** Posts the limits that calls have reached. What cannot be read is read again by the next round. */
async function postLimits(
  { journal, place, beat, post }: CollectRound,
  accounts: readonly LimitedAccount[],
  search: LimitSearch,
): Promise<void> {
  const opened = await journal();
  if (opened === undefined) return;
  let damaged: Error | undefined;
  for (const window of limitWindows(accounts, search)) {
    beat();
    try {
      for (const notice of await limitNotices(opened, place, window, search)) await post(notice);
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
