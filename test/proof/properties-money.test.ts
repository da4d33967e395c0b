import fc from 'fast-check';
import { billing, finishedState } from '../../src/domain/billing';
import { classifyPaidReply } from '../../src/domain/create-decision';
import { decideEpoch, isReopenable, type RecordedAnswer } from '../../src/domain/create-journal';
import {
  beginCreate,
  MAX_SENDS,
  nextStep,
  RESEND_WINDOW_MS,
  type StepContext,
} from '../../src/domain/create-once';
import { DEFAULT_CREATE_POLICY, resolveCreatePolicy } from '../../src/domain/create-policy';
import { canonical, fingerprintText } from '../../src/domain/fingerprint';
import { type CreateVideoAnswer } from '../../src/domain/paid-call';
import { estimatePrice, formatMoney, readAmount } from '../../src/domain/price';
import { meaningOfPaid } from '../../src/service/errors';
import { slotIntent } from '../activities/slot-intent';

const NOW = Date.UTC(2026, 0, 1);
const kind = fc.constantFrom('moderation', 'capacity', 'invalid', 'quota', 'unknown');
const policy = fc
  .record({
    on429: fc.constantFrom('resend', 'fail'),
    on503: fc.constantFrom('header', 'resend', 'inspect'),
    on502: fc.constantFrom('inspect', 'resend', 'fail'),
    on504: fc.constantFrom('inspect', 'resend', 'fail'),
    on500: fc.constantFrom('inspect', 'fail'),
  })
  .map((given) => resolveCreatePolicy(given));
const reply = fc.record({
  status: fc.integer({ min: 100, max: 999 }),
  kind,
  hasRetryAfter: fc.boolean(),
  readable: fc.boolean(),
});
const iso = fc.integer({ min: -1e9, max: 1e9 }).map((ms) => new Date(NOW + ms).toISOString());
const paid = { epoch: 0, sent: true, account: 'a@0', estimate: null };
const error = { kind: 'capacity', code: null, message: null } as const;

describe('prices', () => {
  const micro = fc.integer({ min: 0, max: 1_000_000_000 });

  it('an amount is read back exactly as it was written', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 999_999_999_999_999 }),
        fc.constantFrom('USD', 'EUR'),
        (microUnits, currency) =>
          expect(readAmount(formatMoney({ microUnits, currency }))).toEqual({ microUnits, currency }),
      ),
    );
  });

  it('whatever is read as an amount is a safe whole number of micro-units', () => {
    const text = fc.oneof(fc.string(), fc.stringMatching(/^\d{1,12}(\.\d{0,8})? ?[A-Za-z]{0,4}$/));
    fc.assert(
      fc.property(text, (one) => {
        const amount = readAmount(one);
        return amount === undefined || (Number.isSafeInteger(amount.microUnits) && amount.microUnits >= 0);
      }),
    );
  });

  it('n results cost n times one, in whole micro-units', () => {
    fc.assert(
      fc.property(micro, fc.integer({ min: 1, max: 1_000 }), (microUnits, n) => {
        const rule = { per: 'task', microUnits, currency: 'USD' } as const;
        return estimatePrice(rule, { n })?.microUnits === microUnits * n;
      }),
    );
  });

  it('a price per second grows with the seconds, and without them nothing is made up', () => {
    fc.assert(
      fc.property(micro, fc.nat(86_400), (microUnits, durationSeconds) => {
        const rule = { per: 'second', microUnits, currency: 'USD' } as const;
        expect(estimatePrice(rule, { durationSeconds })?.microUnits).toBe(microUnits * durationSeconds);
        expect(estimatePrice(rule, {})).toBeNull();
      }),
    );
  });

  it('of a price list only a line counts that fits in every key', () => {
    const word = fc.constantFrom('720p', '1080p', '4K');
    const line = fc.record(
      { resolution: word, durationSeconds: fc.integer({ min: 1, max: 3 }), microUnits: micro },
      { requiredKeys: ['microUnits'] },
    );
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 6 }),
        word,
        fc.integer({ min: 1, max: 3 }),
        (specifications, resolution, durationSeconds) => {
          const found = estimatePrice(
            { per: 'specification', currency: 'USD', specifications },
            { resolution, durationSeconds },
          );
          const fitting = specifications.filter(
            (one) =>
              (one.resolution ?? resolution) === resolution &&
              (one.durationSeconds ?? durationSeconds) === durationSeconds,
          );
          expect(found?.microUnits ?? null).toBe(fitting[0]?.microUnits ?? null);
        },
      ),
    );
  });

  it('a bill without usage is never settled, and an unknown estimate is never 0', () => {
    fc.assert(
      fc.property(fc.option(fc.jsonValue()), fc.option(micro), (usage, microUnits) => {
        const bill = billing(microUnits === null ? null : { microUnits, currency: 'USD' }, 'reserved');
        expect(bill.estimate).toBe(microUnits);
        expect(finishedState(usage as never)).toBe(usage === null ? 'needs_review' : 'settled');
      }),
    );
  });
});

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
        if (isResent) expect([425, 429, 502, 503, 504]).toContain(given.status);
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
        epochUsed: fc.boolean(),
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

  it('whatever is answered, refusals end after five sends, and an epoch is never used twice', () => {
    fc.assert(
      fc.property(fc.array(answer, { minLength: 1, maxLength: 40 }), context, (answers, rest) => {
        let state = beginCreate('k', NOW);
        let now = NOW;
        for (const given of answers) {
          const at: StepContext = { ...rest, now, reconciled: false };
          const step = nextStep(state, { ...given, epoch: state.epoch }, at);
          if (step.do !== 'wait') break;
          const used =
            given.outcome === 'refused_for_now' || (given.outcome === 'not_sent' && given.epochUsed);
          expect(step.state.epoch).toBe(state.epoch + (used ? 1 : 0));
          expect(step.state.sends).toBeLessThan(MAX_SENDS);
          state = step.state;
          now = step.until;
        }
      }),
    );
  });
});

describe('records of an epoch', () => {
  const recorded = fc.oneof(
    fc.record({ outcome: fc.constantFrom('created', 'unconfirmed', 'completed', 'results_lost') }),
    fc.record({ outcome: fc.constant('refused_for_now'), notBefore: fc.option(iso) }),
    fc.record({
      outcome: fc.constant('rejected'),
      reason: fc.constantFrom('invalid_request', 'moderation', 'credentials', 'quota', 'capacity'),
    }),
    fc.record({ outcome: fc.constant('not_sent') }),
  );

  it('nothing is sent where a slot is taken, and only into an empty one', () => {
    fc.assert(
      fc.property(
        fc.option(recorded),
        fc.option(fc.constantFrom('f', 'g')),
        fc.boolean(),
        fc.boolean(),
        (answer, fingerprint, taken, reopenOwn) => {
          const slot = taken ? slotIntent({ fingerprint: 'f' }) : null;
          const outcome =
            answer === null || !taken
              ? null
              : ({ v: 1, nonce: 'n', at: '', answer: { ...paid, ...answer } } as never);
          const decision = decideEpoch({ slot, outcome }, { fingerprint, runId: 'r', now: NOW, reopenOwn });
          expect(decision.do === 'send').toBe(!taken);
          if (taken && fingerprint === 'g') expect(decision.do).toBe('conflict');
        },
      ),
    );
  });

  it('what may have been accepted is never reopened, and nothing before its time', () => {
    fc.assert(
      fc.property(recorded, (given) => {
        const answer = { ...paid, ...given } as RecordedAnswer;
        if (!isReopenable(answer, NOW)) return;
        expect(['not_sent', 'refused_for_now', 'rejected']).toContain(answer.outcome);
        if (answer.outcome === 'refused_for_now')
          expect(Date.parse(answer.notBefore ?? '1970')).toBeLessThanOrEqual(NOW);
      }),
    );
  });
});

describe('fingerprints', () => {
  const fields = fc.dictionary(fc.string({ maxLength: 6 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 6 });
  const shuffled = (value: object) => Object.fromEntries(Object.entries(value).reverse());
  const of = (request: object, account = 'a@0') =>
    fingerprintText({ operation: 'create_video', request: { model: 'm', prompt: 'p', ...request } }, account);

  it('the order of fields and fields that are undefined change nothing', () => {
    fc.assert(
      fc.property(fields, (given) => {
        expect(of(shuffled({ fields: shuffled(given), resolution: '720p' }))).toBe(
          of({ resolution: '720p', fields: given }),
        );
        expect(of({ fields: given, aspectRatio: undefined })).toBe(of({ fields: given }));
      }),
    );
  });

  it('another prompt, account or field is another request', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        fc.pre(a !== b);
        expect(of({ prompt: a })).not.toBe(of({ prompt: b }));
        expect(of({}, a)).not.toBe(of({}, b));
        expect(of({ fields: { x: a } })).not.toBe(of({ fields: { x: b } }));
      }),
    );
  });

  it('the canonical form of a canonical form is the same', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), (value) => {
        const once = canonical(value);
        expect(JSON.stringify(canonical(once))).toBe(JSON.stringify(once));
      }),
    );
  });
});
