import { type CellFacts } from './crash-points';

const KEPT: CellFacts = { outcome: 'completed', sends: 1, accepted: 1, log: ['created'] };
const UNCONFIRMED: CellFacts = {
  outcome: 'unconfirmed',
  sends: 1,
  accepted: 1,
  log: ['lost'],
};
const UNCONFIRMED_UNSENT: CellFacts = { ...UNCONFIRMED, sends: 0, accepted: 0 };

export interface ChangedPoint {
  /** One of the crash points. */
  readonly name: string;
  readonly when: string;
  readonly expected: CellFacts;
}

/**
 * The moments of a create before its task is polled. Before a send is announced the server knows of no journal, so that
 * one that was bound later proves nothing, be it another one or an earlier copy.
 */
export const CHANGED_POINTS: readonly ChangedPoint[] = [
  { name: 'before_intent', when: 'before the intent', expected: UNCONFIRMED_UNSENT },
  { name: 'intent_durable', when: 'when the intent is durable', expected: UNCONFIRMED_UNSENT },
  { name: 'first_byte', when: 'just before the first byte', expected: UNCONFIRMED_UNSENT },
  { name: 'request_written', when: 'when the service has the request', expected: UNCONFIRMED },
  {
    name: 'reply_read',
    when: 'when the reply is read, its task is in a heartbeat and nothing is recorded',
    expected: KEPT,
  },
  {
    name: 'answer_durable',
    when: 'when the answer is durable and nobody was told but by a heartbeat',
    expected: KEPT,
  },
  {
    name: 'completion_reported',
    when: 'when the server has the completion, which is kept in the next journal',
    expected: KEPT,
  },
];
