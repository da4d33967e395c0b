import {
  decideSendAttempt,
  type SendAttemptAsker,
  type SendAttemptView,
  isOpenFate,
  isReopenable,
  mayFollow,
  type RecordedAnswer,
  type Resolution,
  type ClaimFence,
  type ClaimIntent,
} from '../../src/domain/journal';
import { type RejectReason } from '../../src/domain/failure-table';
import { answers } from './create-answers';

const NOW = Date.UTC(2026, 0, 1);
const intent: ClaimIntent = {
  v: 1,
  kind: 'intent',
  nonce: 'n',
  operation: 'create_video',
  namespace: 'default',
  creationKey: 'order-1',
  workflowId: 'w',
  runId: 'first',
  activityId: '1',
  fingerprint: 'same',
  bodyHash: 'b',
  idempotencyKey: 'k',
  account: 'a',
  model: 'm',
  durationSeconds: null,
  resolution: null,
  referenceMode: null,
  estimate: null,
  at: new Date(NOW).toISOString(),
  sendWindowEnd: new Date(NOW).toISOString(),
};
const fence: ClaimFence = { v: 1, kind: 'fence', nonce: 'f', at: new Date(NOW).toISOString() };
const asker = (changes: Partial<SendAttemptAsker> = {}): SendAttemptAsker => ({
  fingerprint: 'same',
  runId: 'first',
  now: NOW,
  ...changes,
});
const view = (answer: RecordedAnswer): SendAttemptView => ({
  claim: intent,
  outcome: { v: 1, nonce: 'n', at: intent.at, answer },
});
const decided = (answer: Resolution['answer']): Resolution => ({
  v: 1,
  decision: answer === null ? 'resubmit' : 'adopt',
  by: 'ann',
  reason: 'found in the records',
  at: intent.at,
  answer,
});
const withDecision = (seen: SendAttemptView, answer: Resolution['answer']): SendAttemptView => ({
  ...seen,
  resolution: decided(answer),
});
const doOf = (seen: SendAttemptView, who = asker()) => decideSendAttempt(seen, who).do;

describe('what a send attempt says to somebody who wants to send', () => {
  it("[C4.4a] an outcome without its intent is nobody's to open again", () => {
    const alone = { ...view(answers.notSent(0)), claim: null };
    expect(doOf(alone, asker({ runId: 'later' }))).toBe('return');
    expect(doOf(view(answers.notSent(0)), asker({ runId: 'later' }))).toBe('next_send_attempt');
  });

  it('an untouched one is sent in', () => {
    expect(doOf({ claim: null, outcome: null })).toBe('send');
  });

  it('[C4.4c] an intent without an outcome is pending for everybody', () => {
    for (const runId of ['first', 'later', null])
      expect(doOf({ claim: intent, outcome: null }, asker({ runId, reopenOwn: true }))).toBe('pending');
  });

  it('[C4.4a] a fence closes it for everybody: nobody can ever send in it', () => {
    expect(doOf({ claim: fence, outcome: null })).toBe('fenced');
    expect(doOf({ claim: fence, outcome: null }, asker({ fingerprint: 'other' }))).toBe('fenced');
  });

  it('[C4.4a] another request under the same key is a conflict while the first was or may have been accepted', () => {
    const other = asker({ fingerprint: 'other', runId: 'later', reopenOwn: true });
    expect(doOf({ claim: intent, outcome: null }, other)).toBe('conflict');
    for (const answer of [answers.created(0), answers.unconfirmed(0)])
      expect(doOf(view(answer), other)).toBe('conflict');
  });

  it.each<RejectReason>(['invalid_request', 'moderation', 'service_error', 'credentials'])(
    '[C7.1] after %s the corrected request takes the next send attempt, and the refused one by a person only',
    (reason) => {
      const refused = view(answers.rejected(0, reason));
      expect(doOf(refused, asker({ fingerprint: 'other', runId: 'later' }))).toBe('next_send_attempt');
      expect(doOf(refused, asker({ again: true, runId: 'later' }))).toBe('next_send_attempt');
      // The run that was refused has one request, and it was told.
      expect(doOf(refused, asker({ fingerprint: 'other' }))).toBe('conflict');
      expect(doOf(refused, asker({ again: true }))).toBe('return');
      expect(doOf(refused, asker({ again: true, reopenOwn: true }))).toBe(
        reason === 'credentials' ? 'next_send_attempt' : 'return',
      );
    },
  );

  it('[C4.4a] neither a person nor a correction goes past what was or may have been accepted', () => {
    for (const answer of [answers.created(0), answers.unconfirmed(0)])
      expect(doOf(view(answer), asker({ again: true, runId: 'later' }))).toBe('return');
    expect(doOf({ claim: intent, outcome: null }, asker({ again: true, runId: 'later' }))).toBe('pending');
    // A refusal that came after a decision is none.
    for (const answer of [answers.created(0), answers.rejected(0, 'declared_lost'), null])
      expect(
        doOf(
          withDecision(view(answers.rejected(0, 'invalid_request')), answer),
          asker({ fingerprint: 'other', runId: 'later', again: true }),
        ),
      ).toBe('conflict');
  });

  it('[C8.7] the time that the service named holds for the corrected request too', () => {
    const refused = view(answers.refused(0, new Date(NOW + 1000).toISOString()));
    const other = (now: number) => asker({ fingerprint: 'other', runId: 'later', now });
    expect(doOf(refused, other(NOW))).toBe('conflict');
    expect(doOf(refused, other(NOW + 1000))).toBe('next_send_attempt');
    expect(mayFollow(refused, other(NOW))).toBe(true);
  });

  it('a request whose file cannot be read any more gets the first outcome', () => {
    expect(doOf(view(answers.created(0)), asker({ fingerprint: null }))).toBe('return');
  });

  it('an outcome without a claim is still an outcome', () => {
    const { outcome } = view(answers.created(0));
    expect(doOf({ claim: null, outcome })).toBe('return');
  });

  it.each([
    ['created', answers.created(0)],
    ['unconfirmed', answers.unconfirmed(0)],
    ['rejected for its content', answers.rejected(0, 'moderation')],
    ['rejected as invalid', answers.rejected(0, 'invalid_request')],
  ])('[C4.4a] %s is returned for ever: no run opens another send attempt after it', (_, answer) => {
    for (const runId of ['first', 'later', null])
      for (const reopenOwn of [true, false])
        expect(doOf(view(answer), asker({ runId, reopenOwn }))).toBe('return');
  });

  it('a proven refusal goes back to the run that recorded it and lets a later run go on', () => {
    const refused = view(answers.refused(0));
    expect(doOf(refused)).toBe('return');
    expect(doOf(refused, asker({ reopenOwn: true }))).toBe('next_send_attempt');
    expect(doOf(refused, asker({ runId: 'later' }))).toBe('next_send_attempt');
  });

  it('[C4.4a] an attempt that stood still never goes past what a later attempt was told', () => {
    const at = (seconds: number) => new Date(NOW + seconds * 1000).toISOString();
    const refused: SendAttemptView = { ...view(answers.refused(0)), claim: { ...intent, attemptAt: at(60) } };
    const attempt = (seconds: number, activityId = '1') => ({
      reopenOwn: true,
      attempt: { activityId, attemptAt: at(seconds) },
    });
    expect(doOf(refused, asker(attempt(0)))).toBe('return');
    expect(mayFollow(refused, asker(attempt(0)))).toBe(false);
    for (const later of [60, 120]) expect(doOf(refused, asker(attempt(later)))).toBe('next_send_attempt');
    // Another activity or another run is no earlier attempt, and records of the first versions do not say.
    expect(doOf(refused, asker(attempt(0, '2')))).toBe('next_send_attempt');
    expect(doOf(refused, asker({ ...attempt(0), runId: 'later' }))).toBe('next_send_attempt');
    expect(doOf(view(answers.refused(0)), asker(attempt(0)))).toBe('next_send_attempt');
  });
});

describe('whether asking again can help', () => {
  it.each<RejectReason>([
    'credentials',
    'quota',
    'capacity',
    'not_sent',
    'account_not_configured',
    'retry_later',
    'price_changed',
  ])('after %s', (reason) => {
    expect(isReopenable(answers.rejected(0, reason), NOW)).toBe(true);
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
    expect(isReopenable(answers.rejected(0, reason), NOW)).toBe(false);
  });

  it('[C8.7] never before Retry-After', () => {
    const until = new Date(NOW + 1000).toISOString();
    expect(isReopenable(answers.refused(0, until), NOW)).toBe(false);
    expect(isReopenable(answers.refused(0, until), NOW + 1000)).toBe(true);
    expect(isReopenable(answers.refused(0, null), NOW)).toBe(true);
    expect(isReopenable(answers.notSent(0), NOW)).toBe(true);
    const rejected = { ...answers.rejected(0, 'capacity'), notBefore: until };
    expect(isReopenable(rejected, NOW)).toBe(false);
    expect(isReopenable(rejected, NOW + 1000)).toBe(true);
  });
});

describe('a decision about a send attempt of unknown fate', () => {
  const lost = { ...answers.unconfirmed(0), outcome: 'results_lost' } as unknown as RecordedAnswer;

  it.each<[string, SendAttemptView]>([
    ['an intent without an outcome', { claim: intent, outcome: null }],
    ['an unconfirmed send', view(answers.unconfirmed(0))],
    ['results that are lost', view(lost)],
  ])('[C4.4c] is asked for after %s, and binds everybody', (_, seen) => {
    expect(isOpenFate(seen)).toBe(true);
    for (const runId of ['first', 'later', null]) {
      expect(doOf(withDecision(seen, null), asker({ runId }))).toBe('next_send_attempt');
      const adopted = answers.created(0);
      expect(decideSendAttempt(withDecision(seen, adopted), asker({ runId }))).toEqual({
        do: 'return',
        outcome: { v: 1, nonce: intent.nonce, at: intent.at, answer: adopted },
        claim: intent,
      });
    }
    expect(doOf({ ...seen, resolution: null })).not.toBe('next_send_attempt');
  });

  it.each<[string, SendAttemptView, string]>([
    ['a created video', view(answers.created(0)), 'return'],
    ['nothing at all', { claim: null, outcome: null }, 'send'],
    ['a fence', { claim: fence, outcome: null }, 'fenced'],
    ['a lost claim', { claim: null, outcome: view(answers.unconfirmed(0)).outcome }, 'return'],
  ])('[C4.4a] means nothing after %s', (_, seen, expected) => {
    expect(isOpenFate(seen)).toBe(false);
    expect(doOf(withDecision(seen, null))).toBe(expected);
  });

  it.each([
    ['refused for good', answers.rejected(0)],
    ['refused for now', answers.refused(0, null)],
    ['not sent', answers.notSent(0)],
  ])(
    '[C4.4b] stands although the call turns out later as %s: what followed from it is not hidden',
    (_, late) => {
      for (const runId of ['first', 'later', null]) {
        for (const reopenOwn of [true, false]) {
          const who = asker({ runId, reopenOwn });
          expect(doOf(withDecision(view(late), null), who)).toBe('next_send_attempt');
          for (const answer of [answers.created(0), answers.rejected(0)])
            expect(
              decideSendAttempt(withDecision(view(late), answer as Resolution['answer']), who),
            ).toMatchObject({
              do: 'return',
              outcome: { nonce: 'n', answer },
            });
        }
      }
    },
  );

  it('[C4.4a] gives way to what was bought, whatever was decided and whoever asks', () => {
    const completed = { ...answers.created(0), outcome: 'completed' } as unknown as RecordedAnswer;
    for (const paid of [answers.created(0), completed])
      for (const answer of [null, answers.created(0), answers.rejected(0)] as Resolution['answer'][])
        expect(decideSendAttempt(withDecision(view(paid), answer), asker({ runId: 'later' }))).toMatchObject({
          do: 'return',
          outcome: { nonce: 'n', answer: paid },
        });
  });

  it('[C4.4a] is for the request that was sent: another one is a conflict all the same', () => {
    const seen = withDecision({ claim: intent, outcome: null }, null);
    expect(doOf(seen, asker({ fingerprint: 'other' }))).toBe('conflict');
  });
});

describe('who went past a send attempt may be followed', () => {
  const follows = (seen: SendAttemptView, who = asker({ runId: 'later' })) => mayFollow(seen, who);
  const later = new Date(NOW + 1000).toISOString();

  it('[C2.2.1] where its outcome is not recorded, and where a refusal ends one day', () => {
    expect(follows({ claim: intent, outcome: null })).toBe(true);
    expect(follows({ claim: intent, outcome: null }, asker())).toBe(true);
    expect(follows(view(answers.refused(0, later)))).toBe(true);
  });

  it('[C4.4c] and nowhere else', () => {
    expect(follows(view(answers.refused(0, later)), asker())).toBe(false);
    expect(follows({ claim: intent, outcome: null }, asker({ fingerprint: 'other' }))).toBe(false);
    for (const answer of [answers.created(0), answers.unconfirmed(0)])
      expect(follows(view(answer))).toBe(false);
    // The run that was refused was told so.
    expect(follows(view(answers.rejected(0)), asker())).toBe(false);
    for (const claim of [null, fence]) expect(follows({ claim, outcome: null })).toBe(false);
  });
});
