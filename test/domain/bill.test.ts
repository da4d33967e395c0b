import fc from 'fast-check';
import { type LogEntry } from '../../src/domain/log-entries';
import { decide, type KeyState, stateOf } from '../../src/domain/paid-log';
import {
  answerEntry,
  billEntry,
  decisionEntry,
  fenceEntry,
  intentEntry,
  lostEntry,
} from '../support/log-entries';
import { answers } from './create-answers';

const SENT = { runId: 'first', sender: 'first/1', fingerprint: 'same' };
const intent = intentEntry(SENT);
const second = intentEntry({ ...SENT, nonce: 'second', sender: 'later/1' });
const unconfirmed = [intent, answerEntry(answers.unconfirmed(0))];
/** The activity that has sent, and others of its run and of a later one, with the same request and with another. */
const CALLERS = ['first/1', 'first/2', 'later/1'].flatMap((sender) =>
  ['same', 'other'].flatMap((fingerprint) =>
    [true, false].map((again) => {
      const asks = { sender, runId: sender.slice(0, 5), fingerprint, again, retries: again };
      return { ...asks, attemptAt: intent.attemptAt, now: Date.UTC(2026, 0, 1) };
    }),
  ),
);

const unbilled = (state: KeyState) => ({
  ...state,
  sends: state.sends.map((send) => ({ ...send, bill: null })),
});

describe('a bill', () => {
  const bills = [350_000, 0, -350_000].map((microUnits) => billEntry({ microUnits }));

  it('is that of its own send, and the newest one counts', () => {
    const { sends } = stateOf([...unconfirmed, decisionEntry(), second, ...bills]);
    expect(sends.map(({ bill }) => bill)).toEqual([bills[2], null]);
    expect(stateOf(bills).sends).toEqual([]);
  });

  it('is in the reply of its send, and an entry about it takes precedence in any order', () => {
    const actual = { microUnits: 300_000, currency: 'USD' };
    const bought = answerEntry({ ...answers.created(0), actual });
    const billOf = (...log: readonly LogEntry[]) => stateOf([intent, ...log]).sends[0]?.bill;
    const inReply = { kind: 'bill', about: 'ours', ...actual, source: 'service', at: bought.at };
    expect(billOf(bought)).toMatchObject(inReply);
    // The purchase that arrives after an answer of unknown fate, or after a decision.
    expect(billOf(...unconfirmed.slice(1), decisionEntry(), bought)).toMatchObject(inReply);
    for (const bill of bills) {
      expect(billOf(bought, bill)).toEqual(bill);
      expect(billOf(bill, bought)).toEqual(bill);
    }
    // A second purchase under the same send changes nothing.
    const again = answerEntry({ ...answers.created(0), actual: { ...actual, microUnits: 1 } });
    expect(billOf(bought, again)).toMatchObject(inReply);
    expect(billOf(answerEntry(answers.created(0)))).toBeNull();
  });

  it('[C4.4a] changes nothing else, wherever it stands', () => {
    const entry = fc.constantFrom<LogEntry>(
      intent,
      second,
      ...unconfirmed,
      lostEntry(SENT),
      decisionEntry(),
      decisionEntry({ decision: 'adopt', answer: answers.created(0) }),
      decisionEntry({ decision: 'declareLost', answer: answers.rejected(0, 'declared_lost') }),
      fenceEntry({ sender: 'first/1' }),
      answerEntry(answers.created(0)),
      answerEntry(answers.notSent(0)),
      answerEntry(answers.rejected(0)),
      answerEntry(answers.created(1), { nonce: 'second' }),
      answerEntry({ ...answers.created(0), actual: { microUnits: 1, currency: 'USD' } }),
    );
    const bill = fc.constantFrom<LogEntry>(
      ...bills,
      billEntry({ about: 'second' }),
      billEntry({ about: 'x' }),
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(entry, bill), { maxLength: 12 }), (log) => {
        const plain = log.filter(({ kind }) => kind !== 'bill');
        const state = stateOf(log);
        expect(unbilled(state)).toEqual(unbilled(stateOf(plain)));
        for (const who of CALLERS) expect(decide(state, who)).toEqual(decide(stateOf(plain), who));
      }),
    );
  });
});
