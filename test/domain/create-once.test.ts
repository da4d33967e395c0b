import fc from 'fast-check';
import {
  beginCreate,
  DEFAULT_START_LIMIT_MS,
  MAX_SENDS,
  nextStep,
  RESEND_WINDOW_MS,
  type CreateOnceState,
  type CreateStep,
  type StepContext,
} from '../../src/domain/create-once';
import { type CreateVideoAnswer } from '../../src/domain/paid-call';
import { answers } from './create-answers';

const START = Date.UTC(2026, 0, 1);
const at = (now: number, changes: Partial<StepContext> = {}): StepContext => ({
  now,
  random: 0.5,
  startLimitMs: DEFAULT_START_LIMIT_MS,
  reconciled: false,
  ...changes,
});
const iso = (time: number) => new Date(time).toISOString();
const started = beginCreate('key', START);

function waitOf(step: CreateStep): Extract<CreateStep, { do: 'wait' }> {
  if (step.do !== 'wait') throw new Error(`expected a wait, got ${JSON.stringify(step)}`);
  return step;
}

interface Walk {
  /** How many creates were scheduled. */
  readonly creates: number;
  readonly gaps: number[];
  readonly end: CreateStep;
  readonly endedAt: number;
}

/** Drives one creation in virtual time: `answer` says what the service does with each create. */
function walk(answer: (create: number, now: number) => CreateVideoAnswer, random = 0.5): Walk {
  let state = started;
  let now = START;
  const gaps: number[] = [];
  for (let create = 0; create < 10_000; create++) {
    const step = nextStep(state, answer(create, now), at(now, { random }));
    if (step.do !== 'wait') return { creates: create + 1, gaps, end: step, endedAt: now };
    gaps.push(step.until - now);
    now = step.until;
    state = JSON.parse(JSON.stringify(step.state)) as CreateOnceState;
  }
  throw new Error('the creation never ended');
}

describe('an answer that is final', () => {
  it.each([answers.created(0), answers.rejected(0), answers.unconfirmed(0)])(
    '[C4.4a] settles as it is: $outcome',
    (answer) => {
      expect(nextStep(started, answer, at(START))).toEqual({ do: 'settle', answer });
    },
  );

  it('[C4.4c] an intent without an answer is reconciled, never sent again', () => {
    expect(nextStep(started, answers.pending(0), at(START))).toEqual({ do: 'reconcile' });
  });
});

describe('a proven refusal', () => {
  it.each([0, 0.25, 0.999])('[C8.6] is sent at most five times (random %p)', (random) => {
    const { creates, gaps, end } = walk((create) => answers.refused(create), random);
    expect(creates).toBe(5);
    expect(gaps.every((gap) => gap >= 500 && gap <= 60_000)).toBe(true);
    expect(end).toMatchObject({ do: 'settle', answer: { outcome: 'rejected', reason: 'retry_later' } });
  });

  it('grows its delay from a second towards a minute', () => {
    const backoff = walk((create) => answers.refused(create), 0.9999).gaps;
    expect(backoff.map((gap) => Math.round(gap / 1000))).toEqual([2, 4, 8, 16]);
  });

  it('[C8.7] waits at least as long as Retry-After asks, and never sends before', () => {
    const notBefore = iso(START + 400_000);
    const step = waitOf(nextStep(started, answers.refused(0, notBefore), at(START)));
    expect(step.until).toBe(START + 400_000);
    expect(step.state).toMatchObject({ sends: 1, tries: 1, firstSendAt: START });
  });

  it('[C7.5] a Retry-After beyond the window ends with retry_later and the real time, nothing clamped', () => {
    const notBefore = iso(START + RESEND_WINDOW_MS + 1);
    expect(nextStep(started, answers.refused(0, notBefore), at(START))).toMatchObject({
      do: 'settle',
      answer: { outcome: 'rejected', reason: 'retry_later', notBefore, httpStatus: 429, sent: true },
    });
    expect(
      waitOf(nextStep(started, answers.refused(0, iso(START + RESEND_WINDOW_MS)), at(START))).until,
    ).toBe(START + RESEND_WINDOW_MS);
  });

  it('[C8.6] all sends lie within fifteen minutes of the first', () => {
    const { end, endedAt, creates } = walk((create, now) => answers.refused(create, iso(now + 240_000)));
    expect(creates).toBe(4);
    expect(endedAt - START).toBeLessThanOrEqual(RESEND_WINDOW_MS);
    expect(end).toMatchObject({ do: 'settle', answer: { reason: 'retry_later' } });
  });

  it('that another execution recorded is its send, unless the reconciliation found it', () => {
    const recorded = answers.refused(3, null, false);
    expect(waitOf(nextStep(started, recorded, at(START))).state).toMatchObject({ sends: 0, tries: 0 });
    const found = nextStep(started, recorded, at(START, { reconciled: true }));
    expect(waitOf(found).state).toMatchObject({ tries: 1 });
  });
});

describe('nothing was sent', () => {
  it('[C7.6] a connection that failed is tried again at most five times, then rejected as not sent', () => {
    const { creates, end } = walk((create) => answers.notSent(create));
    expect(creates).toBe(MAX_SENDS);
    expect(end).toMatchObject({ do: 'settle', answer: { outcome: 'rejected', reason: 'not_sent' } });
  });

  it('what waiting cannot mend ends at once', () => {
    const { creates, end } = walk((create) => answers.notSent(create, { permanent: true }));
    expect(creates).toBe(1);
    expect(end).toMatchObject({ answer: { reason: 'not_sent' } });
  });

  it('a configuration that is down is waited for until the start limit, as no try', () => {
    const down = { cause: 'configuration_unavailable', sendAttemptUsed: false };
    const { creates, gaps, end, endedAt } = walk(() => answers.notSent(0, down));
    expect(creates).toBeGreaterThan(MAX_SENDS);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(5 * 60_000);
    expect(endedAt - START).toBeGreaterThan(DEFAULT_START_LIMIT_MS - 5 * 60_000);
    expect(endedAt - START).toBeLessThanOrEqual(DEFAULT_START_LIMIT_MS);
    expect(end).toMatchObject({
      do: 'settle',
      answer: { outcome: 'rejected', reason: 'not_sent', sent: false },
    });
  });

  it('a shorter start limit is kept, also when the first send comes late', () => {
    const down = answers.notSent(0, { cause: 'journal_unavailable', sendAttemptUsed: false });
    expect(nextStep(started, down, at(START + 60_000, { startLimitMs: 60_000 }))).toMatchObject({
      do: 'settle',
    });
    const late = { ...started, startedAt: START - DEFAULT_START_LIMIT_MS };
    expect(nextStep(late, answers.refused(0), at(START))).toMatchObject({ do: 'wait' });
  });

  it.each([
    ['fenced', false],
    ['overtaken', false],
    ['decided', false],
    ['worker_shutdown', true],
    ['server_not_notified', true],
  ])('%s costs no try and at first no time', (cause, sendAttemptUsed) => {
    const unsent = answers.notSent(0, { cause, sendAttemptUsed });
    const step = waitOf(nextStep(started, unsent, at(START)));
    expect(step).toMatchObject({ until: START, state: { sends: 0, tries: 0, waits: 1 } });
    expect(step.state.firstSendAt).toBeNull();
    const tenth = waitOf(nextStep({ ...started, waits: 9 }, unsent, at(START)));
    expect(tenth.until).toBeGreaterThan(START);
  });
});

describe('a key under which another run may have bought', () => {
  const after = { ...started, elsewhere: true as const };
  const unread = [
    'no_worker',
    'journal_not_bound',
    'journal_unavailable',
    'account_not_configured',
    'recorded_by_another_run',
    'unsafe_retry_policy',
    'internal_error',
  ];

  it.each(unread)('[C7.10] is not called free by an answer without a look into its log: %s', (cause) => {
    for (const permanent of [true, false]) {
      const answer = answers.notSent(0, { cause, sendAttemptUsed: false, permanent });
      const limit = at(START, { startLimitMs: 0 });
      const owed = { do: 'settle', answer: { outcome: 'rejected', mayBeOwed: true } };
      expect(nextStep(after, answer, limit)).toMatchObject(owed);
      // This one says that another run has a record.
      const first = expect(nextStep(started, answer, limit));
      if (cause === 'recorded_by_another_run') first.toMatchObject(owed);
      else first.not.toMatchObject(owed);
    }
  });

  it('is free by an answer that has read the log, whatever came before, in a run that continues too', () => {
    const down = answers.notSent(0, { cause: 'journal_unavailable', sendAttemptUsed: false });
    const { state } = waitOf(nextStep(after, down, at(START)));
    expect(state).toMatchObject({ elsewhere: true });
    expect(nextStep(state, answers.notSent(0, { permanent: true }), at(START))).not.toHaveProperty(
      'answer.mayBeOwed',
    );
    expect(nextStep(state, { ...down, permanent: true }, at(START))).toHaveProperty('answer.mayBeOwed', true);
  });
});

describe('whatever the service answers', () => {
  const answer = fc.oneof(
    fc.record({ kind: fc.constant('refused' as const), after: fc.option(fc.nat(RESEND_WINDOW_MS * 2)) }),
    fc.record({
      kind: fc.constant('not_sent' as const),
      cause: fc.constantFrom(
        'connection_refused',
        'configuration_unavailable',
        'fenced',
        'overtaken',
        'decided',
        'worker_shutdown',
      ),
      sendAttemptUsed: fc.boolean(),
      permanent: fc.constant(false),
    }),
    fc.record({ kind: fc.constantFrom('created' as const, 'rejected' as const, 'unconfirmed' as const) }),
    fc.record({ kind: fc.constant('pending' as const) }),
  );

  it('[C4.4a] nothing is sent after what may have been accepted, nor before the time that a refusal named', () => {
    fc.assert(
      fc.property(
        fc.array(answer, { maxLength: 40 }),
        fc.double({ min: 0, max: 0.9999, noNaN: true }),
        (script, random) => {
          let state = started;
          let now = START;
          let earliest = 0;
          for (const [send, item] of script.entries()) {
            expect(now).toBeGreaterThanOrEqual(earliest);
            let given: CreateVideoAnswer;
            if (item.kind === 'refused') {
              const notBefore = item.after === null ? null : now + item.after;
              earliest = notBefore ?? 0;
              given = answers.refused(send, notBefore === null ? null : iso(notBefore));
            } else if (item.kind === 'not_sent') {
              given = answers.notSent(send, item);
            } else {
              given = answers[item.kind](send);
            }
            const step = nextStep(state, given, at(now, { random }));
            if (step.do !== 'wait') {
              const mayBeAccepted = ['created', 'unconfirmed', 'pending', 'rejected'].includes(item.kind);
              if (!mayBeAccepted)
                expect(step).toMatchObject({ do: 'settle', answer: { outcome: 'rejected' } });
              return;
            }
            expect(['refused', 'not_sent']).toContain(item.kind);
            expect(step.until).toBeGreaterThanOrEqual(now);
            expect(step.state.tries).toBeLessThan(MAX_SENDS);
            state = step.state;
            now = step.until;
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it('the state is plain data: a JSON round trip changes nothing', () => {
    const { state } = waitOf(nextStep(started, answers.refused(0), at(START)));
    expect(JSON.parse(JSON.stringify(state))).toEqual(state);
  });
});
