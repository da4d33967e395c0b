import { type CreateJournal } from '../../../src/domain/journal';
import { type LogEntry, type RecordedAnswer } from '../../../src/domain/log-entries';
import { type MediaClient, type VideoSendResult } from '../../../src/service/media-client';
import { fenceEntry } from '../../support/log-entries';
import { currentTime } from './virtual-globals';
import { type Mutant } from './world';

/** Rules of failure model: The log, each broken at a seam. The simulation has to find every one of them. */
export const MUTANTS: readonly Mutant[] = [
  {
    name: 'a fence is believed without being written',
    breaks: 'called unsent although it was sent',
    journal: (journal) =>
      withMethods(journal, {
        append: (key, n, entry) =>
          entry.kind === 'fence' ? Promise.resolve('won') : journal.append(key, n, entry),
      }),
  },
  {
    name: 'a place is taken by whoever writes it',
    breaks: 'accepted without authorisation',
    journal: (journal) =>
      withMethods(journal, {
        append: async (key, n, entry) => {
          const end = await journal.append(key, n, entry);
          return entry.kind === 'intent' ? 'won' : end;
        },
      }),
  },
  {
    name: 'an ambiguous intent counts as written',
    breaks: 'second sends from one place of a log',
    journal: (journal) =>
      withMethods(journal, {
        append: (key, n, entry) => {
          const end = journal.append(key, n, entry);
          return entry.kind === 'intent' ? end.catch(() => 'won' as const) : end;
        },
      }),
  },
  {
    name: 'an answer is written after it is told',
    breaks: 'recorded ids lost',
    journal: (journal) =>
      withMethods(journal, {
        append: (key, n, entry) => {
          if (entry.kind !== 'answer') return journal.append(key, n, entry);
          const time = currentTime();
          time.after(time.random.between(1, 20), time.current, () => {
            journal.append(key, n, entry).catch(() => undefined);
          });
          return Promise.resolve('won');
        },
      }),
  },
  {
    name: 'a key is free after an unknown fate',
    breaks: 'accepted without authorisation',
    journal: (journal) =>
      withEntries(journal, (entry) =>
        entry.kind === 'answer' && entry.answer.outcome === 'unconfirmed'
          ? { ...entry, answer: notSent(entry.answer) }
          : entry,
      ),
  },
  {
    name: 'an intent without an answer counts as not sent',
    breaks: 'accepted without authorisation',
    journal: (journal) =>
      withEntries(journal, (entry, log) => {
        if (entry.kind !== 'intent') return entry;
        const { nonce, at } = entry;
        const isAnswered = log.some((other) => other.kind === 'answer' && other.nonce === nonce);
        return isAnswered ? entry : fenceEntry({ sender: 'nobody', at });
      }),
  },
  {
    name: 'a Retry-After is cut to one second',
    breaks: 'sends before Retry-After',
    client: (client) =>
      withReplies(client, (reply) =>
        'retryAfterMs' in reply && reply.retryAfterMs !== undefined
          ? { ...reply, retryAfterMs: Math.min(reply.retryAfterMs, 1000) }
          : reply,
      ),
  },
  {
    name: 'a connection lost after the send counts as not sent',
    breaks: 'accepted without authorisation',
    client: (client) =>
      withReplies(client, (reply) =>
        reply.class === 'unconfirmed' && reply.httpStatus === undefined
          ? { class: 'not_sent', cause: 'connection_reset', permanent: false, message: 'no' }
          : reply,
      ),
  },
  {
    name: 'a bad gateway counts as a refusal',
    breaks: 'accepted without authorisation',
    client: (client) =>
      withReplies(client, (reply) =>
        reply.class === 'unconfirmed' && reply.httpStatus === 502
          ? {
              class: 'refused_for_now',
              httpStatus: 502,
              error: { kind: 'unknown', code: null, message: null },
            }
          : reply,
      ),
  },
  {
    name: 'the client sends again when a reply is lost',
    breaks: 'second sends from one place of a log',
    client: (client) =>
      withMethods(client, {
        createVideo: async (body, options) => {
          const reply = await client.createVideo(body, options);
          return reply.class === 'unconfirmed' ? client.createVideo(body, options) : reply;
        },
      }),
  },
  {
    name: 'a journal is bound without what histories tell',
    breaks: 'accepted without authorisation',
    keeps: false,
  },
  {
    name: 'a decision is about any send of its key',
    breaks: 'accepted without authorisation',
    namesSend: false,
  },
];

function withMethods<T extends object>(one: T, changed: Partial<T>): T {
  return Object.assign(Object.create(one) as T, changed);
}

function withReplies(client: MediaClient, change: (reply: VideoSendResult) => VideoSendResult): MediaClient {
  return withMethods(client, {
    createVideo: async (body, options) => change(await client.createVideo(body, options)),
  });
}

/** The journal as whoever misreads its entries sees it. */
function withEntries(
  journal: CreateJournal,
  change: (entry: LogEntry, log: readonly LogEntry[]) => LogEntry,
): CreateJournal {
  return withMethods(journal, {
    read: async (key) => (await journal.read(key)).map((entry, _, log) => change(entry, log)),
  });
}

function notSent({
  sendAttempt,
  sent,
  account,
  estimate,
}: Pick<RecordedAnswer, 'sendAttempt' | 'sent' | 'account' | 'estimate'>): RecordedAnswer {
  const words = { cause: 'fenced', sendAttemptUsed: true, permanent: false, message: 'no' };
  return { outcome: 'not_sent', sendAttempt, sent, account, estimate, ...words };
}
