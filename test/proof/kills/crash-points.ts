import { isDeepStrictEqual } from 'node:util';

/** How a worker process is struck. A stop is continued after the server has given up everything that the process held. */
export type Strike = 'SIGKILL' | 'SIGTERM' | 'SIGSTOP';

export const STRIKES: readonly Strike[] = ['SIGKILL', 'SIGTERM', 'SIGSTOP'];

/** What one create must have come to, from the service's own count and from the journal's files. */
export interface CellFacts {
  /** `completed` needs no person. */
  readonly outcome: string;
  /** Creates that reached the service. */
  readonly sends: number;
  readonly accepted: number;
  /** Sends and fences of its log, in order: the answer of a send, a `fence`, or an `intent` without an answer. */
  readonly log: readonly string[];
}

export interface CrashPoint {
  readonly name: string;
  /** What the worker has just done, for the title of a test. */
  readonly when: string;
  /** Contract rules that a kill here proves. */
  readonly rules: readonly string[];
  readonly expected: Readonly<Record<Strike, CellFacts>>;
}

const SENT_ONCE: CellFacts = { outcome: 'completed', sends: 1, accepted: 1, log: ['created'] };
const FENCED_THEN_SENT: CellFacts = { ...SENT_ONCE, log: ['fence', 'created'] };
/** The stopped sender finds itself late, settles that it sends nothing, and that is proof enough. */
const SETTLED_THEN_SENT: CellFacts = { ...SENT_ONCE, log: ['not_sent', 'created'] };
const UNCONFIRMED: CellFacts = { outcome: 'unconfirmed', sends: 1, accepted: 1, log: ['unconfirmed'] };
const UNCONFIRMED_UNSENT: CellFacts = { ...UNCONFIRMED, sends: 0, accepted: 0 };

/** Its reply was lost, and a person had it sent once more. */
const SENT_BY_DECISION: CellFacts = {
  outcome: 'completed',
  sends: 2,
  accepted: 2,
  log: ['unconfirmed', 'created'],
};

const always = (facts: CellFacts): Record<Strike, CellFacts> => ({
  SIGKILL: facts,
  SIGTERM: facts,
  SIGSTOP: facts,
});

/** Milliseconds from the first create to the strike, or to going on, beyond which a machine is slow for these times. */
const SLOW_MS: Readonly<Record<Strike, number>> = { SIGKILL: 5_000, SIGTERM: 5_000, SIGSTOP: 40_000 };

/** Entries by which provably nothing was sent: a create that comes too late for its send settles that, and goes on. */
const UNSENT: ReadonlySet<string> = new Set(['not_sent', 'fence']);

/**
 * Whether facts are those of a slow machine: more entries by which nothing was sent, or a stopped create without time
 * left for its reply, which is unconfirmed. Nothing is sent twice in either.
 */
export function isTooSlow(strike: Strike, facts: CellFacts, expected: CellFacts, heldMs: number): boolean {
  if (heldMs <= SLOW_MS[strike]) return false;
  const late = strike === 'SIGSTOP' && facts.outcome === 'unconfirmed' && facts.sends <= 1;
  return late || isDeepStrictEqual(withoutUnsent(facts), withoutUnsent(expected));
}

/** A worker that is told to stop may end its create before its reconciliation needs the fence: sent once all the same. */
export function isUnfenced(point: CrashPoint, strike: Strike, facts: CellFacts): boolean {
  return point.name === 'reconcile' && strike === 'SIGTERM' && isDeepStrictEqual(facts, SENT_ONCE);
}

function withoutUnsent(facts: CellFacts): CellFacts {
  return {
    ...facts,
    log: facts.log.filter((word) => !UNSENT.has(word)),
  };
}

/** The named moments of a paid video, in the order in which a worker comes by (failure model: rows 4 to 10 and 12). */
export const CRASH_POINTS: readonly CrashPoint[] = [
  {
    name: 'before_intent',
    when: 'before the intent',
    rules: ['C7.6'],
    expected: { SIGKILL: FENCED_THEN_SENT, SIGTERM: SENT_ONCE, SIGSTOP: FENCED_THEN_SENT },
  },
  {
    name: 'intent_linked',
    when: 'when the intent has its name and its folder is not synced',
    rules: ['C4.4c'],
    expected: { SIGKILL: UNCONFIRMED_UNSENT, SIGTERM: SENT_ONCE, SIGSTOP: SETTLED_THEN_SENT },
  },
  {
    name: 'intent_durable',
    when: 'when the intent is durable',
    rules: ['C4.4c'],
    expected: { SIGKILL: UNCONFIRMED_UNSENT, SIGTERM: SENT_ONCE, SIGSTOP: SETTLED_THEN_SENT },
  },
  {
    name: 'first_byte',
    when: 'just before the first byte',
    rules: ['C4.4c'],
    expected: { SIGKILL: UNCONFIRMED_UNSENT, SIGTERM: SENT_ONCE, SIGSTOP: SENT_ONCE },
  },
  {
    name: 'request_written',
    when: 'when the service has the request',
    rules: ['C4.4a', 'C4.4c'],
    expected: { SIGKILL: UNCONFIRMED, SIGTERM: SENT_ONCE, SIGSTOP: SENT_ONCE },
  },
  {
    name: 'reply_headers',
    when: 'between the headers and the end of the reply',
    rules: ['C4.4a', 'C4.4c'],
    expected: { SIGKILL: UNCONFIRMED, SIGTERM: SENT_ONCE, SIGSTOP: SENT_ONCE },
  },
  {
    name: 'reply_read',
    when: 'when the reply is read, its task is in a heartbeat and nothing is recorded',
    rules: ['C4.4a', 'C4.4b'],
    expected: always(SENT_ONCE),
  },
  {
    name: 'answer_durable',
    when: 'when the answer is durable and nobody was told',
    rules: ['C4.4b'],
    expected: always(SENT_ONCE),
  },
  {
    name: 'completion_reported',
    when: 'when the server has the completion',
    rules: ['C4.4b'],
    expected: always(SENT_ONCE),
  },
  { name: 'poll', when: 'in a poll', rules: ['C3.3'], expected: always(SENT_ONCE) },
  {
    name: 'part_before_publish',
    when: 'in a download, before its part gets its name',
    rules: ['C3.3'],
    expected: always(SENT_ONCE),
  },
  {
    name: 'part_published',
    when: 'in a download, when its part has its name',
    rules: ['C3.3'],
    expected: always(SENT_ONCE),
  },
  {
    name: 'reconcile',
    when: 'in a reconciliation, before its fence',
    rules: ['C4.4a'],
    expected: always(FENCED_THEN_SENT),
  },
  {
    name: 'before_decision',
    when: 'before a decision to send again is written',
    rules: ['C4.4a', 'C4.4c'],
    expected: always(SENT_BY_DECISION),
  },
  {
    name: 'decision_durable',
    when: 'when a decision to send again is durable and nobody was told',
    rules: ['C4.4a', 'C4.4c'],
    expected: always(SENT_BY_DECISION),
  },
];

/** Points of a decision: it authorises one send besides the first. */
export const isOfDecision = (point: string): boolean => /decision/.test(point);
