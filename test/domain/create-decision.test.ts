import fc from 'fast-check';
import {
  createPolicyCheck,
  DEFAULT_CREATE_POLICY,
  resolveCreatePolicy,
  type ResolvedCreatePolicy,
} from '../../src/domain/create-policy';
import { type ErrorKind } from '../../src/domain/video-task';
import { classifyPaidReply, type PaidReply, type ReplyClass } from '../../src/service/classify-reply';

const KINDS: readonly ErrorKind[] = ['moderation', 'capacity', 'invalid', 'quota', 'unknown'];
const FLAGS = [true, false];
const KNOBS = {
  on429: ['resend', 'fail'],
  on503: ['header', 'resend', 'inspect'],
  on502: ['inspect', 'resend', 'fail'],
  on504: ['inspect', 'resend', 'fail'],
  on500: ['inspect', 'resend', 'fail'],
} as const;

const POLICIES: readonly ResolvedCreatePolicy[] = KNOBS.on429.flatMap((on429) =>
  KNOBS.on503.flatMap((on503) =>
    KNOBS.on502.flatMap((on502) =>
      KNOBS.on504.flatMap((on504) =>
        KNOBS.on500.map((on500) => ({
          on429,
          on503,
          on502,
          on504,
          on500,
          onAbsent: 'unconfirmed' as const,
          idempotency: 'off' as const,
        })),
      ),
    ),
  ),
);

const reply = (status: number, changes: Partial<PaidReply> = {}): PaidReply => ({
  status,
  kind: 'unknown',
  hasRetryAfter: false,
  readable: false,
  ...changes,
});

/** Every reply of one status, whatever the body and the header say. */
function repliesOf(status: number): PaidReply[] {
  return KINDS.flatMap((kind) =>
    FLAGS.flatMap((hasRetryAfter) => FLAGS.map((readable) => ({ status, kind, hasRetryAfter, readable }))),
  );
}

function everyCell(
  statuses: readonly number[],
  expected: (reply: PaidReply, policy: ResolvedCreatePolicy) => ReplyClass,
) {
  const wrong = POLICIES.flatMap((policy) =>
    statuses
      .flatMap(repliesOf)
      .map((cell) => ({ cell, policy, is: classifyPaidReply(cell, policy), should: expected(cell, policy) }))
      .filter(({ is, should }) => is !== should),
  );
  expect(wrong.slice(0, 3)).toEqual([]);
}

/** Where the status alone proves a refusal, the body's kind says which. */
const byKind = (kind: ErrorKind, otherwise: ReplyClass): ReplyClass =>
  kind === 'moderation' || kind === 'quota' || kind === 'invalid' ? `rejected_${kind}` : otherwise;

describe('rows 32 and 33: 2xx', () => {
  it('[C4.4c] is accepted when it was read and unconfirmed when it was not', () => {
    everyCell([200, 201, 202, 204, 299], ({ readable }) => (readable ? 'accepted' : 'unconfirmed'));
  });
});

describe('rows 23 and 24: refused for good', () => {
  it('[C7.1] 400 and its kin are final and are never sent again', () => {
    everyCell([400, 404, 405, 413, 415, 422], ({ kind }) =>
      byKind(kind, kind === 'capacity' ? 'rejected_capacity' : 'rejected_invalid'),
    );
  });

  it('[C5.2] 401 is about credentials, whatever its body says; 403 too, unless it names content or quota', () => {
    everyCell([401], () => 'rejected_credentials');
    everyCell([403], ({ kind }) =>
      kind === 'moderation' || kind === 'quota' ? `rejected_${kind}` : 'rejected_credentials',
    );
  });

  it('402 needs a person', () => {
    everyCell([402], ({ kind }) => (kind === 'moderation' ? 'rejected_moderation' : 'rejected_quota'));
  });
});

describe('rows 27, 28 and 31: refused for now', () => {
  it('[C7.5] 425 and 429 are refused before anything is processed, unless the operator cannot vouch for that', () => {
    everyCell([425, 429], ({ kind }, { on429 }) =>
      byKind(kind, on429 === 'resend' ? 'refused_for_now' : 'rejected_capacity'),
    );
  });

  it('[C7.5] 503 proves a refusal only with Retry-After, or where the operator vouches for it', () => {
    everyCell([503], ({ kind, hasRetryAfter }, { on503 }) => {
      const refused = on503 === 'resend' || (on503 === 'header' && hasRetryAfter);
      return refused ? byKind(kind, 'refused_for_now') : 'unconfirmed';
    });
  });

  it('[C7.8] moderation is told apart from capacity, whatever the status it arrives with', () => {
    for (const status of [400, 403, 404, 422, 425, 429]) {
      const of = (kind: ErrorKind) => classifyPaidReply(reply(status, { kind }), DEFAULT_CREATE_POLICY);
      expect(of('moderation')).toBe('rejected_moderation');
      expect(of('capacity')).not.toBe('rejected_moderation');
    }
  });
});

describe('rows 25, 26, 29, 30 and 35: fate unknown', () => {
  it('[C4.4c] 500, 502 and 504 are unconfirmed even with Retry-After, unless the operator vouches for them', () => {
    const vouched = {
      inspect: 'unconfirmed',
      resend: 'refused_for_now',
      fail: 'rejected_service_error',
    } as const;
    everyCell([502], (_, { on502 }) => vouched[on502]);
    everyCell([504], (_, { on504 }) => vouched[on504]);
    everyCell([500], (_, { on500 }) => vouched[on500]);
  });

  it('[C4.4c] every status that is in no row is unconfirmed under every policy', () => {
    const named = new Set([400, 401, 402, 403, 404, 405, 413, 415, 422, 425, 429, 500, 502, 503, 504]);
    const others = Array.from({ length: 900 }, (_, index) => 100 + index).filter(
      (status) => !named.has(status) && !(status >= 200 && status < 300),
    );
    expect(others).toEqual(expect.arrayContaining([100, 301, 302, 303, 307, 308, 408, 409, 501, 520, 999]));
    const cells = others.flatMap(repliesOf);
    const wrong = POLICIES.flatMap((policy) =>
      cells.filter((cell) => classifyPaidReply(cell, policy) !== 'unconfirmed'),
    );
    expect(wrong.slice(0, 3)).toEqual([]);
  });

  it('is total: also for numbers that are no status', () => {
    fc.assert(
      fc.property(
        fc.double(),
        fc.constantFrom(...KINDS),
        fc.constantFrom(...POLICIES),
        (status, kind, policy) => {
          fc.pre(!(status >= 200 && status < 300) && !Number.isInteger(status));
          expect(classifyPaidReply(reply(status, { kind, hasRetryAfter: true }), policy)).toBe('unconfirmed');
        },
      ),
    );
  });
});

describe('the policy', () => {
  it('[C7.5] by default sends again after 425, 429 and 503 with Retry-After only', () => {
    const resent = Array.from({ length: 600 }, (_, status) => status).flatMap((status) =>
      FLAGS.filter(
        (hasRetryAfter) =>
          classifyPaidReply(reply(status, { hasRetryAfter, readable: true }), DEFAULT_CREATE_POLICY) ===
          'refused_for_now',
      ).map((hasRetryAfter) => `${status}${hasRetryAfter ? ' with Retry-After' : ''}`),
    );
    expect(resent).toEqual([
      '425 with Retry-After',
      '425',
      '429 with Retry-After',
      '429',
      '503 with Retry-After',
    ]);
  });

  it('is strict by default', () => {
    expect(resolveCreatePolicy()).toEqual({
      on429: 'resend',
      on503: 'header',
      on502: 'inspect',
      on504: 'inspect',
      on500: 'inspect',
      onAbsent: 'unconfirmed',
      idempotency: 'off',
    });
  });

  it('refuses a misspelled field and a value that no field has: an unknown word must not send again', () => {
    const issueOf = (policy: object) => createPolicyCheck(policy, 'policy');
    expect(issueOf({ onAbsend: 'resend' })).toEqual({
      field: 'policy.onAbsend',
      message: 'policy.onAbsend is not a known field. Did you mean onAbsent?',
      allowed: Object.keys(DEFAULT_CREATE_POLICY),
    });
    expect(issueOf({ idempotency: { header: 'k', headers: 'k' } })).toMatchObject({
      field: 'policy.idempotency.headers',
      message: expect.stringContaining('Did you mean header?') as string,
    });
    for (const knob of Object.keys(DEFAULT_CREATE_POLICY))
      for (const value of [null, {}, [], 'perhaps', 1, { header: '' }])
        expect(issueOf({ [knob]: value })?.field).toMatch(`policy.${knob}`);
    expect(issueOf(DEFAULT_CREATE_POLICY)).toBeUndefined();
  });

  it('a key is promised for a time: one without the other vouches for nothing', () => {
    const issueOf = (idempotency: object) => createPolicyCheck({ idempotency }, 'policy');
    const header = 'Idempotency-Key';
    expect(issueOf({ header })).toBeUndefined();
    expect(issueOf({ header, honoured: true, windowSeconds: 3600 })).toBeUndefined();
    for (const half of [
      { honoured: true },
      { windowSeconds: 3600 },
      { honoured: false, windowSeconds: 3600 },
    ])
      expect(issueOf({ header, ...half })).toBeDefined();
    for (const windowSeconds of [0, 60, 1e9, 'x'])
      expect(issueOf({ header, honoured: true, windowSeconds })).toMatchObject({
        field: 'policy.idempotency.windowSeconds',
      });
    expect(issueOf({ header: 'a b' })).toMatchObject({ field: 'policy.idempotency.header' });
  });

  it('takes later layers over earlier ones, and a knob that is undefined is not given', () => {
    expect(resolveCreatePolicy()).toEqual(DEFAULT_CREATE_POLICY);
    expect(resolveCreatePolicy({ on429: 'fail', on500: 'fail' }, undefined, { on429: 'resend' })).toEqual({
      ...DEFAULT_CREATE_POLICY,
      on500: 'fail',
    });
    const untyped = JSON.parse('{}') as { on503?: 'header' };
    Object.assign(untyped, { on503: undefined });
    expect(resolveCreatePolicy({ on503: 'inspect' }, untyped).on503).toBe('inspect');
  });

  it('[C4.4c] a misspelt knob never sends again', () => {
    const typo = 'reesend' as 'resend';
    const policy = { ...DEFAULT_CREATE_POLICY, on429: typo, on503: typo, on502: typo, on504: typo };
    for (const status of [429, 502, 503, 504]) {
      expect(classifyPaidReply(reply(status, { hasRetryAfter: true }), policy)).not.toBe('refused_for_now');
    }
  });
});
