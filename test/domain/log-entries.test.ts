import {
  costOf,
  isOpenAnswer,
  isPaid,
  mayBeOwed,
  mayHaveCost,
  owesBesides,
  purchaseOf,
  type DecisionEntry,
  type RecordedAnswer,
  type Send,
  wasCharged,
} from '../../src/domain/log-entries';
import { stateOf } from '../../src/domain/paid-log';
import { answerEntry, billEntry, decisionEntry, intentEntry, lostEntry } from '../support/log-entries';
import { answers } from './create-answers';

const SENT: Send = { sent: intentEntry(), answer: null, decision: null, bill: null };
const UNSEEN: Send = { ...SENT, sent: lostEntry() };
const ended = (answer: RecordedAnswer): Send => ({ ...SENT, answer: answerEntry(answer) });
const as = (outcome: string): RecordedAnswer =>
  ({ ...answers.unconfirmed(0), outcome }) as unknown as RecordedAnswer;
const decided = (send: Send, own: Partial<DecisionEntry>): Send => ({
  ...send,
  decision: decisionEntry(own),
});
const sentAgain = (send: Send) => decided(send, {});
const adopted = (send: Send) => decided(send, { decision: 'adopt', answer: answers.created(0) });
const givenUp = (send: Send) =>
  decided(send, { decision: 'declareLost', answer: answers.rejected(0, 'declared_lost') });
/** The service read the request, and refused it. */
const validated = (reason: 'moderation' | 'invalid_request' | 'quota') =>
  ended({ ...answers.rejected(0, reason), httpStatus: 400 });
/** Our own check refused it: the service never saw it. */
const unread = ended(answers.rejected(0, 'invalid_request'));

const chargesOf = (send: Send) => ({
  mayHaveCost: mayHaveCost(send),
  wasCharged: wasCharged(send),
  mayBeOwed: mayBeOwed(send),
});
const ALL = { mayHaveCost: true, wasCharged: true, mayBeOwed: true };
const NONE = { mayHaveCost: false, wasCharged: false, mayBeOwed: false };

describe('what a send may have cost', () => {
  it.each<[string, Send]>([
    ['a created video', ended(answers.created(0))],
    ['completed images', ended(as('completed'))],
    ['an intent without an answer', SENT],
    ['a send that this journal did not see', UNSEEN],
    ['an unconfirmed call', ended(answers.unconfirmed(0))],
    ['images that were lost', ended(as('results_lost'))],
    ['images that were lost and given up', givenUp(ended(as('results_lost')))],
    ['an unconfirmed call that is sent again', sentAgain(ended(answers.unconfirmed(0)))],
    ['an unseen send that is made again', sentAgain(UNSEEN)],
    ['an unconfirmed call whose task was found', adopted(ended(answers.unconfirmed(0)))],
    ['a created video that was given up before', givenUp(ended(answers.created(0)))],
  ])('%s counts in full', (_, send) => {
    expect(chargesOf(send)).toEqual(ALL);
  });

  it.each<[string, Send]>([
    ['a call that was not sent', ended(answers.notSent(0))],
    ['a refusal for now', ended(answers.refused(0))],
    ['a refusal of the account', validated('quota')],
    ['a refusal by our own check', unread],
    [
      'a refusal of everything that the account asks for',
      ended({ ...answers.rejected(0), httpStatus: 400, standing: 'account' }),
    ],
  ])('%s counts for nothing', (_, send) => {
    expect(chargesOf(send)).toEqual(NONE);
  });

  it.each(['moderation', 'invalid_request'] as const)(
    '[C7.10] a request that the service refused for %s bought nothing, but its validation may be billed',
    (reason) => {
      expect(chargesOf(validated(reason))).toEqual({ mayHaveCost: false, wasCharged: true, mayBeOwed: true });
    },
  );

  it('[C4.4c] what a person declared lost costs no more, although it was charged', () => {
    for (const send of [UNSEEN, ended(answers.unconfirmed(0))])
      expect(chargesOf(givenUp(send))).toEqual({ mayHaveCost: false, wasCharged: true, mayBeOwed: false });
  });
});

describe('the purchase of a send', () => {
  it('[C4.4a] is what its reply says, else what was decided', () => {
    const [found, told] = [answers.created(0), answers.created(1)];
    expect(purchaseOf(SENT)).toBeUndefined();
    expect(purchaseOf(adopted(ended(answers.unconfirmed(0))))).toEqual(found);
    expect(purchaseOf(adopted(ended(told)))).toEqual(told);
    expect(purchaseOf(givenUp(ended(told)))).toEqual(told);
    expect(purchaseOf(sentAgain(UNSEEN))).toBeUndefined();
  });

  it.each<[RecordedAnswer, boolean, boolean]>([
    [answers.created(0), true, false],
    [as('completed'), true, false],
    [answers.unconfirmed(0), false, true],
    [as('results_lost'), false, true],
    [answers.rejected(0), false, false],
    [answers.refused(0), false, false],
    [answers.notSent(0), false, false],
  ])('$outcome', (answer, paid, open) => {
    expect([isPaid(answer), isOpenAnswer(answer)]).toEqual([paid, open]);
  });
});

describe('what is owed besides a send of the same key', () => {
  const next = intentEntry({ nonce: 'next' });
  const before = [intentEntry(), answerEntry(answers.unconfirmed(0))];
  const after = [next, answerEntry(answers.created(1), { nonce: 'next' })];

  it('[C7.10] is an earlier send of unknown fate that was made again', () => {
    const state = stateOf([...before, decisionEntry(), ...after]);
    expect([owesBesides(state, 0), owesBesides(state, 1)]).toEqual([true, true]);
    // Two purchases: each is owed besides the other.
    const both = stateOf([...before, decisionEntry(), ...after, answerEntry(answers.created(0))]);
    expect([owesBesides(both, 0), owesBesides(both, 1)]).toEqual([true, true]);
  });

  it('is none behind a refusal, or alone', () => {
    const refused = stateOf([intentEntry(), answerEntry(answers.rejected(0)), ...after]);
    expect([owesBesides(refused, 0), owesBesides(refused, 1)]).toEqual([true, false]);
    expect(owesBesides(stateOf(before), 0)).toBe(false);
    expect(owesBesides(stateOf([intentEntry(), answerEntry(answers.created(0))]), 0)).toBe(false);
  });
});

describe('what a send cost', () => {
  const estimate = { microUnits: 250_000, currency: 'USD' };
  const priced: Send = { ...SENT, sent: intentEntry({ estimate }) };

  it('is estimated until there is a bill', () => {
    expect(costOf(priced)).toEqual(estimate);
    expect(costOf(SENT)).toBeNull();
    expect(costOf(UNSEEN)).toBeNull();
  });

  it.each([350_000, 0, -250_000])('is what was billed: %d', (microUnits) => {
    const bill = billEntry({ microUnits });
    for (const send of [priced, SENT, UNSEEN])
      expect(costOf({ ...send, bill })).toEqual({ microUnits, currency: 'USD' });
  });
});
