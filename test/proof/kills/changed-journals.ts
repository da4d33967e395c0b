import { isDeepStrictEqual } from 'node:util';
import { type JournalChange } from '../../support/changed-journal';
import { type CellFacts } from './crash-points';

const KEPT: CellFacts = { outcome: 'completed', sends: 1, accepted: 1, sendAttempts: ['created'] };
const UNCONFIRMED: CellFacts = {
  outcome: 'unconfirmed',
  sends: 1,
  accepted: 1,
  sendAttempts: ['unconfirmed'],
};
const UNCONFIRMED_UNSENT: CellFacts = { ...UNCONFIRMED, sends: 0, accepted: 0 };
const FENCED_THEN_SENT: CellFacts = { ...KEPT, sendAttempts: ['fence', 'created'] };

export interface ChangedPoint {
  /** One of the crash points. */
  readonly name: string;
  readonly when: string;
  readonly expected: Readonly<Record<JournalChange, CellFacts>>;
}

const always = (facts: CellFacts): ChangedPoint['expected'] => ({
  lost: facts,
  restored: facts,
  rebound: facts,
});

/** The server knows that this journal has no intent, so that an earlier copy of it proves as much; no other one does. */
const UNTOLD: ChangedPoint['expected'] = { ...always(UNCONFIRMED_UNSENT), restored: FENCED_THEN_SENT };

/** The moments of a create before its task is polled. */
export const CHANGED_POINTS: readonly ChangedPoint[] = [
  { name: 'before_claim', when: 'before the claim', expected: UNTOLD },
  { name: 'claim_durable', when: 'when the claim is durable', expected: UNTOLD },
  { name: 'first_byte', when: 'just before the first byte', expected: always(UNCONFIRMED_UNSENT) },
  { name: 'request_written', when: 'when the service has the request', expected: always(UNCONFIRMED) },
  {
    name: 'reply_read',
    when: 'when the reply is read and nothing is recorded',
    expected: always(UNCONFIRMED),
  },
  {
    name: 'outcome_durable',
    when: 'when the outcome is durable and nobody was told',
    expected: always(UNCONFIRMED),
  },
  {
    name: 'completion_reported',
    when: 'when the server has the completion, which is kept in the next journal',
    expected: always(KEPT),
  },
];

/** A worker that stands still for so long has told the server that there might be an intent, or was given up by it. */
const SHOWN_AFTER_MS = 8_000;

/** Whether a create that might go on asks a person, because it took a slow machine too long to get there. */
export function isTooCareful(facts: CellFacts, expected: CellFacts, heldMs: number): boolean {
  const mightGoOn = isDeepStrictEqual(expected, FENCED_THEN_SENT);
  return heldMs > SHOWN_AFTER_MS && mightGoOn && isDeepStrictEqual(facts, UNCONFIRMED_UNSENT);
}
