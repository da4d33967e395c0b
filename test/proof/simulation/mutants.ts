import { type CreateJournal, type OutcomeRecord, type RecordedAnswer } from '../../../src/domain/journal';
import { type MediaClient, type VideoSendResult } from '../../../src/service/media-client';
import { currentTime } from './virtual-globals';
import { type Mutant } from './world';

/** Rules of failure model: The journal, each broken at a seam. The simulation has to find every one of them. */
export const MUTANTS: readonly Mutant[] = [
  {
    name: 'a fence is believed without being written',
    breaks: 'accepted without authorisation',
    journal: (journal) =>
      withMethods(journal, {
        putClaim: (key, sendAttempt, claim) =>
          claim.kind === 'fence' ? Promise.resolve('won') : journal.putClaim(key, sendAttempt, claim),
      }),
  },
  {
    name: 'a claim is taken by whoever writes it',
    breaks: 'accepted without authorisation',
    journal: (journal) =>
      withMethods(journal, {
        putClaim: async (key, sendAttempt, claim) => {
          await journal.putClaim(key, sendAttempt, claim);
          return 'won';
        },
      }),
  },
  {
    name: 'an ambiguous claim counts as taken',
    breaks: 'second sends of one send attempt',
    journal: (journal) =>
      withMethods(journal, {
        putClaim: (key, sendAttempt, claim) =>
          journal.putClaim(key, sendAttempt, claim).catch(() => 'won' as const),
      }),
  },
  {
    name: 'an outcome is written after it is told',
    breaks: 'recorded ids lost',
    journal: (journal) =>
      withMethods(journal, {
        putOutcome: (key, sendAttempt, record) => {
          const time = currentTime();
          time.after(time.random.between(1, 20), time.current, () => {
            journal.putOutcome(key, sendAttempt, record).catch(() => undefined);
          });
          return Promise.resolve('won');
        },
      }),
  },
  {
    name: 'a send attempt reopens after an unknown fate',
    breaks: 'accepted without authorisation',
    journal: (journal) =>
      withAnswers(journal, (answer) => (answer.outcome === 'unconfirmed' ? notSent(answer) : answer)),
  },
  {
    name: 'a taken claim without an outcome counts as not sent',
    breaks: 'accepted without authorisation',
    journal: (journal) =>
      withMethods(journal, {
        read: async (key, sendAttempt) => {
          const view = await journal.read(key, sendAttempt);
          if (view.claim?.kind !== 'intent' || view.outcome !== null) return view;
          const answer = notSent({ sendAttempt, sent: true, account: null, estimate: null });
          return { ...view, outcome: { v: 1, nonce: view.claim.nonce, at: view.claim.at, answer } };
        },
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
    breaks: 'second sends of one send attempt',
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

function withAnswers(
  journal: CreateJournal,
  change: (answer: RecordedAnswer) => RecordedAnswer,
): CreateJournal {
  const changed = (outcome: OutcomeRecord | null): OutcomeRecord | null =>
    outcome === null ? null : { ...outcome, answer: change(outcome.answer) };
  return withMethods(journal, {
    read: async (key, sendAttempt) => {
      const view = await journal.read(key, sendAttempt);
      return { ...view, outcome: changed(view.outcome) };
    },
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
