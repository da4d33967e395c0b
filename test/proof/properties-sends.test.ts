import fc from 'fast-check';
import {
  beginCreate,
  MAX_SENDS,
  nextStep,
  RESEND_WINDOW_MS,
  type StepContext,
} from '../../src/domain/create-once';
import { DEFAULT_CREATE_POLICY, resolveCreatePolicy } from '../../src/domain/create-policy';
import { type RecordedAnswer } from '../../src/domain/log-entries';
import { type CreateVideoAnswer } from '../../src/domain/paid-call';
import { decide, type LogCaller, stateOf } from '../../src/domain/paid-log';
import { classifyPaidReply } from '../../src/service/classify-reply';
import { meaningOfPaid } from '../../src/service/classify-reply';
import { answerEntry, intentEntry } from '../support/log-entries';

const NOW = Date.UTC(2026, 0, 1);
const kind = fc.constantFrom('moderation', 'capacity', 'invalid', 'quota', 'unknown');
const policy = fc
  .record({
    on429: fc.constantFrom('resend', 'fail'),
    on503: fc.constantFrom('header', 'resend', 'inspect'),
    on502: fc.constantFrom('inspect', 'resend', 'fail'),
    on504: fc.constantFrom('inspect', 'resend', 'fail'),
    on500: fc.constantFrom('inspect', 'resend', 'fail'),
  })
  .map((given) => resolveCreatePolicy(given));
const reply = fc.record({
  status: fc.integer({ min: 100, max: 999 }),
  kind,
  hasRetryAfter: fc.boolean(),
  readable: fc.boolean(),
});
const iso = fc.integer({ min: -1e9, max: 1e9 }).map((ms) => new Date(NOW + ms).toISOString());
const paid = { sendAttempt: 0, sent: true, account: 'a@0', estimate: null };
const error = { kind: 'capacity', code: null, message: null } as const;

describe('what a reply to a paid call means', () => {
  it('only a readable 2xx is accepted, and every other reply has a class', () => {
    fc.assert(
      fc.property(reply, policy, (given, rules) => {
        const found = meaningOfPaid(given, rules).class;
        const is2xx = given.status >= 200 && given.status < 300;
        expect(found === 'accepted').toBe(is2xx && given.readable);
        if (is2xx && !given.readable) expect(found).toBe('unconfirmed');
      }),
    );
  });

  it('by default only 425, 429 and a 503 with Retry-After may be sent again', () => {
    fc.assert(
      fc.property(reply, (given) => {
        if (classifyPaidReply(given, DEFAULT_CREATE_POLICY) !== 'refused_for_now') return;
        expect([425, 429, 503]).toContain(given.status);
        if (given.status === 503) expect(given.hasRetryAfter).toBe(true);
      }),
    );
  });

  it('no policy makes a status sent again that it has no word for', () => {
    fc.assert(
      fc.property(reply, policy, (given, rules) => {
        const isResent = classifyPaidReply(given, rules) === 'refused_for_now';
        if (isResent) expect([425, 429, 500, 502, 503, 504]).toContain(given.status);
      }),
    );
  });

  it('a layer of policy that says nothing undoes nothing', () => {
    fc.assert(
      fc.property(
        policy,
        fc.subarray(['on429', 'on503', 'on502', 'on504', 'on500'] as const),
        (rules, silent) => {
          const nothing = Object.fromEntries(silent.map((name) => [name, undefined]));
          expect(resolveCreatePolicy(rules, nothing, undefined)).toEqual(rules);
        },
      ),
    );
  });
});

describe('sends of one creation', () => {
  const answer: fc.Arbitrary<CreateVideoAnswer> = fc
    .oneof(
      fc.record({
        outcome: fc.constant('refused_for_now' as const),
        notBefore: fc.option(iso),
        httpStatus: fc.constantFrom(429, 503),
        error: fc.constant(error),
        sent: fc.boolean(),
      }),
      fc.record({
        outcome: fc.constant('not_sent' as const),
        cause: fc.constantFrom('fenced', 'connection_refused', 'worker_shutdown', 'journal_unavailable'),
        sendAttemptUsed: fc.boolean(),
        permanent: fc.constant(false),
        message: fc.constant('m'),
        sent: fc.constant(false),
      }),
      fc.record({ outcome: fc.constant('pending' as const), sent: fc.constant(false) }),
    )
    .map((one) => ({ ...paid, ...one }));
  const context = fc.record({
    random: fc.double({ min: 0, max: 0.9999, noNaN: true }),
    startLimitMs: fc.nat(86_400_000),
    reconciled: fc.boolean(),
  });

  it('a wait is never shorter than Retry-After, always ahead, and never goes past the window', () => {
    fc.assert(
      fc.property(answer, context, (given, rest) => {
        const step = nextStep(beginCreate('k', NOW), given, { ...rest, now: NOW });
        if (step.do !== 'wait') return;
        expect(step.until).toBeGreaterThanOrEqual(NOW);
        if (given.outcome === 'refused_for_now') {
          expect(step.until).toBeGreaterThanOrEqual(
            Date.parse(given.notBefore ?? new Date(NOW).toISOString()),
          );
          expect(step.until).toBeLessThanOrEqual(NOW + RESEND_WINDOW_MS);
        }
      }),
    );
  });

  it('whatever is answered, refusals end after five tries, and each that reached the service counts', () => {
    fc.assert(
      fc.property(fc.array(answer, { minLength: 1, maxLength: 40 }), context, (answers, rest) => {
        let state = beginCreate('k', NOW);
        let now = NOW;
        for (const given of answers) {
          const at: StepContext = { ...rest, now, reconciled: false };
          const step = nextStep(state, given, at);
          if (step.do !== 'wait') break;
          const isTried =
            given.outcome === 'not_sent'
              ? given.sendAttemptUsed && !['fenced', 'worker_shutdown'].includes(given.cause)
              : given.sent;
          expect(step.state.tries).toBe(state.tries + (isTried ? 1 : 0));
          expect(step.state.sends).toBe(state.sends + (given.sent ? 1 : 0));
          expect(step.state.tries).toBeLessThan(MAX_SENDS);
          state = step.state;
          now = step.until;
        }
      }),
    );
  });
});

describe('the log of a key', () => {
  const recorded = fc
    .oneof(
      fc.record({ outcome: fc.constantFrom('created', 'unconfirmed', 'completed', 'results_lost') }),
      fc.record({ outcome: fc.constant('refused_for_now'), notBefore: fc.option(iso) }),
      fc.record({
        outcome: fc.constant('rejected'),
        reason: fc.constantFrom('invalid_request', 'moderation', 'credentials', 'quota', 'capacity'),
      }),
      fc.record({ outcome: fc.constant('not_sent') }),
    )
    .map((answer) => ({ ...paid, ...answer }) as RecordedAnswer);
  const caller: fc.Arbitrary<LogCaller> = fc.record({
    sender: fc.constantFrom('run/1', 'run/2'),
    runId: fc.constantFrom('run', 'r'),
    fingerprint: fc.option(fc.constantFrom('f', 'g')),
    attemptAt: fc.constant(new Date(NOW).toISOString()),
    now: fc.constant(NOW),
    retries: fc.boolean(),
    again: fc.boolean(),
  });
  const isRefusal = ({ outcome }: RecordedAnswer): boolean =>
    ['not_sent', 'refused_for_now', 'rejected'].includes(outcome);
  const isPaused = (answer: RecordedAnswer): boolean =>
    answer.outcome === 'refused_for_now' && Date.parse(answer.notBefore ?? '1970') > NOW;
  const at = new Date(NOW).toISOString();

  it('nothing is sent where a send may have been accepted, and anybody sends where there is none', () => {
    fc.assert(
      fc.property(fc.option(recorded), fc.boolean(), caller, (answer, isTaken, who) => {
        const intent = intentEntry({ fingerprint: 'f', at });
        const log = isTaken ? [intent, ...(answer === null ? [] : [answerEntry(answer, { at })])] : [];
        const licence = decide(stateOf(log), who);
        if (!isTaken) return expect(licence.do).toBe('send');
        const isOver = answer !== null && isRefusal(answer) && !isPaused(answer);
        if (!isOver) expect(licence.do).not.toBe('send');
        if (who.fingerprint === 'g') expect(licence.do).toBe(isOver ? 'send' : 'conflict');
      }),
    );
  });

  it('what may have been accepted is never sent again, and nothing before its time', () => {
    fc.assert(
      fc.property(recorded, caller, (answer, who) => {
        const log = [intentEntry({ fingerprint: 'f', at }), answerEntry(answer, { at })];
        if (decide(stateOf(log), who).do !== 'send') return;
        expect(['not_sent', 'refused_for_now', 'rejected']).toContain(answer.outcome);
        if (answer.outcome === 'refused_for_now')
          expect(Date.parse(answer.notBefore ?? '1970')).toBeLessThanOrEqual(NOW);
      }),
    );
  });
});
