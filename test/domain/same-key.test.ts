import {
  beginCreate,
  DEFAULT_START_LIMIT_MS,
  MAX_SENDS,
  nextStep,
  sentAgain,
  withDebts,
  type CreateOnceState,
  type CreateStep,
} from '../../src/domain/create-once';
import { honouredKey, sameKeyUntil } from '../../src/domain/log-entries';
import { type CreateVideoAnswer, evidence, type UnconfirmedCall } from '../../src/domain/paid-call';
import { answers } from './create-answers';

const START = Date.UTC(2026, 0, 1);
const iso = (time: number) => new Date(time).toISOString();
const VOUCHED = { header: 'Idempotency-Key', honoured: true, windowSeconds: 3600 } as const;
const UNTIL = iso(START + 3_600_000 - 70_000);

function step(
  state: CreateOnceState,
  answer: CreateVideoAnswer,
  now = START,
  reconciled = false,
): CreateStep {
  return nextStep(state, answer, { now, random: 0.5, startLimitMs: DEFAULT_START_LIMIT_MS, reconciled });
}
function waitOf(made: CreateStep): Extract<CreateStep, { do: 'wait' }> {
  if (made.do !== 'wait') throw new Error(`expected a wait, got ${JSON.stringify(made)}`);
  return made;
}
const SENT = 'the send of unknown fate';
const unknown = (changes: Partial<UnconfirmedCall> = {}): UnconfirmedCall => ({
  ...answers.unconfirmed(0),
  evidence: { ...answers.unconfirmed(0).evidence, sendId: SENT },
  sameKeyUntil: UNTIL,
  ...changes,
});
const started = beginCreate('key', START);

describe('the window of a key that the service is vouched to honour', () => {
  it('counts from the intent, and leaves a last send its whole time', () => {
    expect(honouredKey(VOUCHED, START, 60_000)).toEqual({ header: 'Idempotency-Key', lastSendAt: UNTIL });
  });

  it.each(['off' as const, { header: 'Idempotency-Key' }])('is none for %j', (policy) => {
    expect(honouredKey(policy, START, 60_000)).toBeUndefined();
  });

  const intent = { idempotency: { header: 'Idempotency-Key', lastSendAt: UNTIL } };
  const now = Date.parse(UNTIL);
  it('is over at its end, and never began where no key was sent', () => {
    const lost = evidence('connection_lost_after_send');
    expect(sameKeyUntil(intent, lost, now)).toBe(UNTIL);
    expect(sameKeyUntil(intent, lost, now + 1)).toBeUndefined();
    expect(sameKeyUntil({}, lost, now)).toBeUndefined();
  });

  it.each([
    ['connection_lost_after_send', {}, true],
    ['timeout_after_send', {}, true],
    ['no_outcome_recorded', {}, true],
    ['reply_truncated', { httpStatus: 200 }, true],
    ['reply_without_id', { httpStatus: 200 }, true],
    ['http_408', { httpStatus: 408 }, true],
    ['http_409', { httpStatus: 409, code: 'request_in_progress' }, true],
    ['http_409', { httpStatus: 409, code: 'idempotency_key_mismatch' }, false],
    ['http_500', { httpStatus: 500 }, true],
    ['http_500', { httpStatus: 500, kind: 'moderation' as const }, false],
    ['http_502', { httpStatus: 502, kind: 'capacity' as const }, true],
    ['http_504', { httpStatus: 504 }, true],
    ['http_307', { httpStatus: 307 }, false],
    ['http_418', { httpStatus: 418 }, false],
    ['same_key_refused', { httpStatus: 401 }, false],
  ])('%s %j may be asked again: %s', (cause, facts, may) => {
    expect(sameKeyUntil(intent, evidence(cause, facts), now) !== undefined).toBe(may);
  });
});

describe('a create of unknown fate whose key is honoured', () => {
  it('[C4.4c] without the voucher it settles, as before', () => {
    expect(step(started, answers.unconfirmed(0))).toEqual({ do: 'settle', answer: answers.unconfirmed(0) });
  });

  it('is sent again by its name, after a wait', () => {
    const wait = waitOf(step(started, unknown()));
    expect(wait.until).toBeGreaterThan(START);
    expect(wait.state).toMatchObject({ sends: 1, tries: 1, firstSendAt: START });
    expect(sentAgain(wait.state)).toBe(SENT);
  });

  it('[C8.6] is sent five times at most, and then says how often it was', () => {
    let state = started;
    let sends = 0;
    for (let now = START; ;) {
      sends += 1;
      const made = step(state, unknown(), now);
      if (made.do === 'settle') {
        expect(made.answer).toMatchObject({ outcome: 'unconfirmed', resent: true });
        break;
      }
      ({ state, until: now } = waitOf(made));
    }
    expect(sends).toBe(MAX_SENDS);
  });

  it('[C8.7] waits for Retry-After, and settles where that is beyond the window or the quarter of an hour', () => {
    const later = (ms: number) => unknown({ notBefore: iso(START + ms) });
    expect(waitOf(step(started, later(600_000))).until).toBe(START + 600_000);
    expect(step(started, later(16 * 60_000)).do).toBe('settle');
    const short = { ...later(300_000), sameKeyUntil: iso(START + 299_000) };
    expect(step(started, short).do).toBe('settle');
  });

  it('[C7.10] a refusal that comes later does not say that nothing was accepted, unless a person said so', () => {
    const { state } = waitOf(step(started, unknown()));
    const refused = step(state, answers.rejected(0, 'credentials'));
    if (refused.do !== 'settle') throw new Error('expected an end');
    expect(withDebts(refused.answer, state)).toMatchObject({ outcome: 'unconfirmed' });
    expect(withDebts(answers.rejected(0, 'declared_lost'), state)).toMatchObject({ outcome: 'rejected' });
    expect(withDebts(answers.rejected(1, 'credentials'), state)).toMatchObject({ outcome: 'rejected' });
    expect(withDebts(answers.created(0), state)).toEqual(answers.created(0));
  });

  it('what was unknown is about one send: the answer of a later one ends it', () => {
    const { state } = waitOf(step(started, unknown()));
    const next = waitOf(step(state, answers.refused(1))).state;
    expect(next.unknown).toBeUndefined();
    expect(sentAgain(next)).toBeUndefined();
    const down = answers.notSent(0, { cause: 'journal_unavailable', sendAttemptUsed: false });
    expect(sentAgain(waitOf(step(state, down)).state)).toBe(SENT);
  });

  it('looks into task records once the sends are over', () => {
    const inspectable = unknown({ inspectable: true });
    expect(step(started, inspectable).do).toBe('wait');
    expect(step({ ...started, tries: MAX_SENDS }, inspectable).do).toBe('reconcile');
  });
});
