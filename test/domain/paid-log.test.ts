import { type RejectReason } from '../../src/domain/failure-table';
import { type LogEntry, type RecordedAnswer } from '../../src/domain/log-entries';
import { decide, type KeyState, type LogCaller, stateOf } from '../../src/domain/paid-log';
import { answerEntry, decisionEntry, fenceEntry, intentEntry, lostEntry } from '../support/log-entries';
import { answers } from './create-answers';

const NOW = Date.UTC(2026, 0, 1);
const at = (ms: number): string => new Date(NOW + ms).toISOString();
const intent = intentEntry({
  runId: 'first',
  sender: 'first/1',
  fingerprint: 'same',
  attemptAt: at(0),
  at: at(0),
});
const ended = (answer: RecordedAnswer): LogEntry => answerEntry(answer, { at: at(0) });
/** Another activity of a later run, unless it says otherwise. */
const caller = (own: Partial<LogCaller> = {}): LogCaller => ({
  ...{ sender: 'later/1', runId: 'later', fingerprint: 'same', attemptAt: at(0), now: NOW },
  ...own,
});
/** The activity that has sent. */
const itself = (own: Partial<LogCaller> = {}) => caller({ sender: 'first/1', runId: 'first', ...own });
/** Another activity of the run that has sent. */
const ownRun = (own: Partial<LogCaller> = {}) => caller({ sender: 'first/2', runId: 'first', ...own });
const says = (log: readonly LogEntry[], who = caller()) => decide(stateOf(log), who);
const doOf = (log: readonly LogEntry[], who = caller()) => says(log, who).do;

const as = (outcome: string): RecordedAnswer =>
  ({ ...answers.unconfirmed(0), outcome }) as unknown as RecordedAnswer;
const declaredLost = answers.rejected(0, 'declared_lost');
const DECISIONS = {
  resubmit: decisionEntry(),
  adopt: decisionEntry({ decision: 'adopt', answer: answers.created(0) }),
  declareLost: decisionEntry({ decision: 'declareLost', answer: declaredLost }),
};
const open = [intent];
const unconfirmed = [intent, ended(answers.unconfirmed(0))];
const seenElsewhere = [lostEntry({ runId: 'first', sender: 'first/1', fingerprint: 'same' })];
const UNKNOWN: readonly (readonly [string, readonly LogEntry[]])[] = [
  ['an unconfirmed send', unconfirmed],
  ['results that are lost', [intent, ended(as('results_lost'))]],
  ['a send that this journal did not see', seenElsewhere],
];
const EVERYBODY = [itself(), ownRun(), caller(), caller({ runId: null })];

describe('what a log says to somebody who wants to send', () => {
  it('an empty one is sent in', () => {
    expect(doOf([])).toBe('send');
  });

  it('[C4.4c] an intent without an answer is pending for everybody', () => {
    for (const who of EVERYBODY)
      for (const retries of [true, false])
        expect(says(open, { ...who, retries })).toEqual({ do: 'pending', at: 0 });
  });

  it('[C4.4a] a fence excludes its sender for ever, and nobody else', () => {
    const fenced = [fenceEntry({ sender: 'first/1' })];
    for (const who of [itself(), itself({ fingerprint: 'other' }), itself({ retries: true, again: true })])
      expect(doOf(fenced, who)).toBe('fenced');
    expect(doOf(fenced)).toBe('send');
    // Also behind what others have sent since, unless there is something to be told.
    const refused = [
      ...fenced,
      intentEntry({ nonce: 'n', sender: 'x' }),
      answerEntry(answers.notSent(0), { nonce: 'n' }),
    ];
    expect(doOf(refused, itself())).toBe('fenced');
    expect(doOf([...fenced, intent], itself())).toBe('pending');
    expect(doOf([...fenced, intent, ended(answers.created(0))], itself())).toBe('return');
  });

  it('[C4.4a] another request under the same key is a conflict while the first was or may have been accepted', () => {
    const other = caller({ fingerprint: 'other', retries: true, again: true });
    for (const log of [open, unconfirmed, seenElsewhere, [intent, ended(answers.created(0))]])
      expect(says(log, other)).toEqual({ do: 'conflict', at: 0 });
  });

  it('[C7.10] whoever may have made a send of unknown fate is told of it, even while another request holds the key', () => {
    const lost = lostEntry({ nonce: 'lost', fingerprint: null });
    const other = caller({ fingerprint: 'other' });
    for (const log of [open, unconfirmed, [intent, ended(answers.created(0))]])
      expect(says([...log, lost], other)).toEqual({ do: 'return', at: 1 });
    expect(doOf([...open, lost], caller())).toBe('pending');
    // Once it is decided, the key belongs to the other request again.
    const decided = [...open, lost, decisionEntry({ about: 'lost' })];
    expect(says(decided, other)).toEqual({ do: 'conflict', at: 0 });
    // A person has named its task: that is what the call bought.
    const adopted = decisionEntry({ about: 'lost', decision: 'adopt', answer: answers.created(1) });
    const bought = [intent, ended(answers.created(0)), lost, adopted];
    expect(says(bought, other)).toEqual({ do: 'return', at: 1 });
    expect(says(bought, caller())).toEqual({ do: 'return', at: 0 });
  });

  it('a request whose file cannot be read any more, or that only another journal had, counts as the same', () => {
    expect(doOf([intent, ended(answers.created(0))], caller({ fingerprint: null }))).toBe('return');
    const unread = [lostEntry({ fingerprint: null })];
    expect(doOf(unread, caller({ fingerprint: 'other' }))).toBe('return');
  });

  it.each<RejectReason>(['invalid_request', 'moderation', 'service_error', 'credentials'])(
    '[C7.1] after %s a corrected request is sent, and the refused one by a person only',
    (reason) => {
      const refused = [intent, ended(answers.rejected(0, reason))];
      for (const who of [caller(), ownRun()])
        expect(doOf(refused, { ...who, fingerprint: 'other' })).toBe('send');
      expect(doOf(refused, caller({ again: true }))).toBe('send');
      const isTemporary = reason === 'credentials';
      for (const who of [caller(), ownRun(), ownRun({ again: true }), itself({ retries: true })])
        expect(doOf(refused, who)).toBe(isTemporary ? 'send' : 'return');
      // The activity that was refused was told.
      for (const again of [true, false]) expect(doOf(refused, itself({ again }))).toBe('return');
    },
  );

  it('[C4.4a] neither a person nor a correction goes past what was or may have been accepted', () => {
    const again = caller({ again: true });
    for (const log of [[intent, ended(answers.created(0))], unconfirmed])
      expect(doOf(log, again)).toBe('return');
    expect(doOf(open, again)).toBe('pending');
  });

  it.each([
    ['created', answers.created(0)],
    ['completed', as('completed')],
    ['unconfirmed', answers.unconfirmed(0)],
    ['rejected for its content', answers.rejected(0, 'moderation')],
    ['rejected as invalid', answers.rejected(0, 'invalid_request')],
  ])('[C4.4a] %s is returned for ever: no run sends after it', (_, answer) => {
    for (const who of EVERYBODY)
      for (const retries of [true, false])
        expect(says([intent, ended(answer)], { ...who, retries })).toEqual({ do: 'return', at: 0 });
  });

  it('a proven refusal goes back to the activity that got it; another one, or a later run, goes on', () => {
    for (const answer of [answers.refused(0), answers.notSent(0)]) {
      const log = [intent, ended(answer)];
      expect(doOf(log, itself())).toBe('return');
      for (const who of [itself({ retries: true }), ownRun(), caller()]) expect(doOf(log, who)).toBe('send');
    }
  });

  it('the next intent ends the refusal before it, and the newest one counts', () => {
    const refused = [intent, ended(answers.rejected(0, 'credentials'))];
    const next = intentEntry({ nonce: 'next', sender: 'later/1', runId: 'later', fingerprint: 'same' });
    expect(doOf([...refused, next], itself())).toBe('pending');
    const twice = [...refused, next, answerEntry(answers.rejected(1), { nonce: 'next' })];
    expect(says(twice, caller({ runId: 'third' }))).toEqual({ do: 'return', at: 1 });
  });

  it('[C7.1] a refusal of the whole account or model lets its own run try again: a person may have mended it', () => {
    const standing = [intent, ended({ ...answers.rejected(0, 'invalid_request'), standing: 'account' })];
    expect(doOf(standing, ownRun())).toBe('send');
    expect(doOf(standing, caller())).toBe('return');
    expect(doOf(standing, itself())).toBe('return');
    expect(doOf(standing, itself({ retries: true }))).toBe('return');
    // An activity that waits by its own attempts is one sender all the time.
    expect(doOf(standing, itself({ retries: true, waitsItself: true }))).toBe('send');
  });

  it('[C4.4a] a try that stood still never goes past what a later try was told', () => {
    const later = { ...intent, attemptAt: at(60_000) };
    const refused = [later, ended(answers.refused(0))];
    expect(doOf(refused, itself({ retries: true, attemptAt: at(0) }))).toBe('return');
    for (const ms of [60_000, 120_000])
      expect(doOf(refused, itself({ retries: true, attemptAt: at(ms) }))).toBe('send');
    // Another activity or another run is no earlier try.
    for (const who of [ownRun({ retries: true }), caller({ retries: true })])
      expect(doOf(refused, who)).toBe('send');
  });
});

describe('[C8.7] the time that the service named', () => {
  const until = at(1_000);
  const refusals = [answers.refused(0, until), { ...answers.rejected(0, 'capacity'), notBefore: until }];

  it('holds for every run and every request under the key, and no longer', () => {
    for (const answer of refusals) {
      const log = [intent, ended(answer)];
      for (const who of [caller(), ownRun(), itself({ retries: true }), caller({ again: true })]) {
        expect(doOf(log, who)).toBe('return');
        expect(doOf(log, { ...who, now: NOW + 1_000 })).toBe('send');
      }
      const corrected = caller({ fingerprint: 'other' });
      expect(says(log, corrected)).toEqual({ do: 'conflict', at: 0 });
      expect(doOf(log, { ...corrected, now: NOW + 1_000 })).toBe('send');
    }
  });

  it('begins when it is read where the record is of the future: one of two clocks is wrong', () => {
    const log = [intent, answerEntry(answers.refused(0, at(61_000)), { at: at(60_000) })];
    // A second after the record, so a second after it is read: by either clock it is to come.
    expect(doOf(log, caller({ now: NOW }))).toBe('return');
    expect(doOf(log, caller({ now: NOW + 60_999 }))).toBe('return');
    expect(doOf(log, caller({ now: NOW + 61_000 }))).toBe('send');
  });

  it('is none where it was not named, or where nothing was sent', () => {
    expect(doOf([intent, ended(answers.refused(0, null))])).toBe('send');
    expect(doOf([intent, ended({ ...answers.notSent(0), notBefore: until } as RecordedAnswer)])).toBe('send');
  });
});

describe('whether the same request is sent again after a refusal in another run', () => {
  it.each<RejectReason>([
    'credentials',
    'quota',
    'capacity',
    'not_sent',
    'account_not_configured',
    'retry_later',
    'price_changed',
  ])('after %s', (reason) => {
    expect(doOf([intent, ended(answers.rejected(0, reason))])).toBe('send');
  });

  it.each<RejectReason>([
    'invalid_request',
    'moderation',
    'service_error',
    'creation_key_conflict',
    'creation_key_required',
    'unsafe_retry_policy',
    'declared_lost',
  ])('not after %s', (reason) => {
    expect(doOf([intent, ended(answers.rejected(0, reason))])).toBe('return');
  });
});

describe('a decision about a send of unknown fate', () => {
  it.each(UNKNOWN)('[C4.4c] is asked for after %s, and binds everybody', (_, log) => {
    const about = log[0]!.kind === 'lost' ? 'ours' : intent.nonce;
    expect(stateOf(log).unknown).toBe(0);
    for (const who of EVERYBODY) {
      expect(says(log, who)).toEqual({ do: 'return', at: 0 });
      expect(doOf([...log, { ...DECISIONS.resubmit, about }], who)).toBe('send');
      for (const made of [DECISIONS.adopt, DECISIONS.declareLost])
        expect(says([...log, { ...made, about }], { ...who, again: true, retries: true })).toEqual({
          do: 'return',
          at: 0,
        });
    }
  });

  it.each<[string, readonly LogEntry[]]>([
    ['a created video', [intent, ended(answers.created(0))]],
    ['a refusal', [intent, ended(answers.rejected(0))]],
    ['a send in flight', open],
    ['nothing at all', []],
    ['a fence', [fenceEntry()]],
    [
      'another send',
      [intentEntry({ nonce: 'another' }), answerEntry(answers.unconfirmed(0), { nonce: 'another' })],
    ],
  ])('[C4.4a] means nothing after %s', (_, log) => {
    for (const made of Object.values(DECISIONS)) expect(stateOf([...log, made])).toEqual(stateOf(log));
  });

  it('[C4.4a] counts once, repeated or made by two people: the first one stands', () => {
    for (const first of Object.values(DECISIONS))
      for (const second of Object.values(DECISIONS))
        expect(stateOf([...unconfirmed, first, second])).toEqual(stateOf([...unconfirmed, first]));
    // One that was carried out again by a reset says nothing about the next send.
    const next = [intentEntry({ nonce: 'next' }), answerEntry(answers.unconfirmed(1), { nonce: 'next' })];
    const log = [...unconfirmed, DECISIONS.resubmit, ...next];
    expect(stateOf([...log, DECISIONS.resubmit])).toEqual(stateOf(log));
    expect(stateOf(log).unknown).toBe(1);
  });

  it('[C4.4c] is needed about each send of unknown fate: one frees the key for none but its own', () => {
    const unseen = lostEntry({ nonce: 'unseen', fingerprint: 'same' });
    const both = [intent, unseen, ended(answers.unconfirmed(0))];
    for (const first of [0, 1]) {
      const about = ['ours', 'unseen'];
      const one = [...both, decisionEntry({ about: about[first]! })];
      expect(says(one)).toEqual({ do: 'return', at: 1 - first });
      expect(doOf([...one, decisionEntry({ about: about[1 - first]! })])).toBe('send');
      // A refusal that arrives for the other one settles it as well.
      const nonce = about[1 - first]!;
      expect(doOf([...one, answerEntry(answers.notSent(0), { nonce, at: at(0) })])).toBe('send');
    }
    expect(says([unseen, intent])).toEqual({ do: 'pending', at: 1 });
  });

  it('[C4.4a] is for the request that was sent: another one is a conflict all the same', () => {
    const other = caller({ fingerprint: 'other', again: true });
    for (const log of [unconfirmed, seenElsewhere])
      for (const made of Object.values(DECISIONS))
        expect(says([...log, made], other)).toEqual({ do: 'conflict', at: 0 });
  });

  it.each([
    ['refused for good', answers.rejected(0)],
    ['refused for now', answers.refused(0, null)],
    ['not sent', answers.notSent(0)],
    ['unconfirmed', answers.unconfirmed(0)],
  ])(
    '[C4.4b] stands although the call turns out later as %s: what followed from it is not hidden',
    (_, late) => {
      for (const made of Object.values(DECISIONS)) {
        const log = [...unconfirmed, made];
        expect(stateOf([...log, ended(late)])).toEqual(stateOf(log));
      }
    },
  );

  it('[C4.4a] gives way to what was bought, whatever was decided and whoever asks', () => {
    for (const paid of [answers.created(0), as('completed')])
      for (const made of Object.values(DECISIONS)) {
        const state = stateOf([...unconfirmed, made, ended(paid)]);
        expect(state).toMatchObject({ bought: 0, unknown: null, sends: [{ answer: { answer: paid } }] });
        for (const who of EVERYBODY) expect(decide(state, who)).toEqual({ do: 'return', at: 0 });
      }
  });

  it('[C4.4a] gives way to a purchase that becomes known while the next send is in flight, and both are kept', () => {
    const next = intentEntry({ nonce: 'next', fingerprint: 'same' });
    const log = [...unconfirmed, DECISIONS.resubmit, next, ended(answers.created(0))];
    expect(says(log)).toEqual({ do: 'return', at: 0 });
    const both: KeyState = stateOf([...log, answerEntry(answers.created(1), { nonce: 'next' })]);
    expect(both).toMatchObject({ bought: 0, open: null });
    expect(both.sends.map(({ answer }) => answer?.answer.outcome)).toEqual(['created', 'created']);
  });
});

describe('a send of unknown fate beside a purchase', () => {
  const log = [intent, lostEntry({ nonce: 'unseen', fingerprint: 'same' }), ended(answers.created(0))];

  it('[C4.4c] waits for its decision, and none takes the purchase away', () => {
    expect(stateOf(log)).toMatchObject({ bought: 0, unknown: 1 });
    for (const made of Object.values(DECISIONS)) {
      const decided = stateOf([...log, { ...made, about: 'unseen' }]);
      expect(decided).toMatchObject({ bought: 0, unknown: null });
      for (const who of EVERYBODY) expect(decide(decided, who)).toEqual({ do: 'return', at: 0 });
    }
  });
});

describe('what arrives late, or of nobody', () => {
  it('[C4.4b] an answer settles a send that was given up as unconfirmed', () => {
    for (const answer of [answers.rejected(0), answers.notSent(0)])
      expect(stateOf([...unconfirmed, ended(answer)])).toMatchObject({ unknown: null, refused: 0 });
    expect(stateOf([...unconfirmed, ended(answers.created(0))])).toMatchObject({ unknown: null, bought: 0 });
  });

  it('[C4.4a] the first answer of a purchase stays', () => {
    const bought = [intent, ended(answers.created(0))];
    for (const late of [answers.created(0), answers.rejected(0), answers.unconfirmed(0), answers.notSent(0)])
      expect(stateOf([...bought, answerEntry(late, { at: at(9_000) })])).toEqual(stateOf(bought));
  });

  it('an answer of no send says nothing', () => {
    for (const answer of [answers.created(0), answers.unconfirmed(0), answers.rejected(0)])
      expect(stateOf([ended(answer)])).toEqual(stateOf([]));
  });

  it('[C4.4b] a send that this journal did not see gets its purchase all the same', () => {
    expect(stateOf([...seenElsewhere, ended(answers.created(0))])).toMatchObject({
      unknown: null,
      bought: 0,
    });
  });
});
