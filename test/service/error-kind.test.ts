import { DEFAULT_CREATE_POLICY, resolveCreatePolicy } from '../../src/domain/create-policy';
import { type ErrorKind } from '../../src/domain/video-task';
import { type PaidReply } from '../../src/service/classify-reply';
import { errorKind, KIND_SIGNALS, meaningOfGet, meaningOfPaid } from '../../src/service/classify-reply';

const nothing = { codes: [], types: [], text: '' };
const ofCode = (code: string): ErrorKind => errorKind({ ...nothing, codes: [code] });
const ofType = (type: string): ErrorKind => errorKind({ ...nothing, types: [type] });
const ofText = (text: string): ErrorKind => errorKind({ ...nothing, text });
const ofStatus = (httpStatus: number): ErrorKind => errorKind({ ...nothing, httpStatus });

/** Codes as services spell them; a type means the same. */
const CODES: Readonly<Record<ErrorKind, readonly string[]>> = {
  moderation: [
    ...['moderation_blocked', 'OutputModerated', 'sentinel_block', 'SentinelBlock', 'sensitive_content'],
    ...['InputImageSensitiveContentDetected', 'data_inspection_failed', 'DataInspectionFailed'],
    ...['safety', 'SAFETY.VIOLENCE', 'safety_block', 'safety-block', 'content_filter', 'ContentFilter'],
    ...['nsfw_detected', 'content_policy_violation', 'UsagePolicy', 'policy'],
  ],
  capacity: [
    ...['insufficient_capacity', 'InsufficientResource', 'overloaded_error', 'ServerOverloaded'],
    ...['model_loading', 'ModelLoadingError', 'rate_limit', 'RequestRateLimitExceeded', 'THROTTLED'],
    ...['ThrottlingException', 'service_unavailable', 'no_capacity', 'too_many_requests', 'TooManyRequests'],
    ...['toomany_requests', 'too_manyrequests', 'server_busy', 'ServerBusy', '429', '503'],
  ],
  quota: [
    ...['quota_exceeded', 'QuotaExceeded', 'insufficient_balance', 'InsufficientCredits', 'insufficient'],
    ...['billing_hard_limit_reached', 'billing_policy', 'quota_policy', 'payment_required'],
    ...['PaymentRequired', 'Arrearage', 'out_of_credit', 'OutOfCredits', 'outof_credits', 'out_ofcredits'],
    '402',
  ],
  invalid: [
    ...['invalid_size', 'size_invalid', 'InvalidParameter', 'bad_request', 'BadRequest', 'validation_error'],
    ...['unsupported_duration', 'not_supported', 'NotSupported', 'missing_prompt', 'out_of_range'],
    ...['OutOfRange', 'outof_range', 'out_ofrange', 'value_error', 'parameter_too_long', '400', '422'],
    ...['invalid_request', 'invalid_request_error'],
  ],
  unknown: [
    ...['unsafety', 'safetyfirst', 'rate_policy', 'api_rate_policy', 'limit_policy', 'internal_error', ''],
    ...['insufficient_permission', 'InsufficientPermission', 'insufficient_scope', 'InsufficientAccess'],
    ...['insufficient_privilege', '1402', '4020', '1429', '4290', '1503', '5030', '1400', '4000', '1422'],
    ...['4220', 'invalid_api_key', 'InvalidApiKey', 'token_invalid', 'the_token_invalid', 'auth_invalid'],
    ...['invalid_credential', 'invalid_response', 'invalid_state', 'an_invalid_request_error'],
    'invalid_request_error_2',
  ],
};

/** Sentences: only whole words that no sentence would hold by chance. */
const TEXTS: Readonly<Record<ErrorKind, readonly string[]>> = {
  moderation: [
    ...[
      'Guardrail blocked the prompt',
      'stopped by guard-rails',
      'blocked: moderation_blocked by upstream',
      'it was content_policy_violation, so no',
    ],
    ...['upstream: image_content_policy_violation', 'Sentinel_Block hit', 'SensitiveContentDetected!'],
    ...['said InputTextSensitiveContentDetected', 'got DataInspectionFailed', 'stopped by SAFETY.INPUT'],
  ],
  capacity: [
    ...['upstream ServerOverloaded', 'upstream ModelLoadingError', 'RateLimitExceeded: wait'],
    ...['upstream RequestRateLimitExceeded', 'rate_limit_exceeded, wait', 'it was THROTTLED'],
    ...['UNAVAILABLE: again', 'upstream MODEL_UNAVAILABLE'],
  ],
  quota: [
    ...['QuotaExceeded today', 'upstream DailyQuotaExceeded', 'quota_exceeded for this month'],
    ...['insufficient_quota', 'insufficient_balance: top up', 'insufficient_credit', 'insufficient_credits'],
    ...[
      'insufficient_funds',
      'insufficient_user_quota',
      'billing_limit',
      'billing_hard_limit_reached, sorry',
    ],
  ],
  invalid: [],
  unknown: [
    ...['a policy of safety', 'the service is unavailable', 'throttled', 'rate limit exceeded', 'invalid'],
    ...['the quota is exceeded', 'serveroverloaded', 'SAFETY.', 'notmoderation_blocked', 'insufficient_data'],
    ...['xquota_exceeded', 'rate_limit_exceeded2', 'no capacity', 'billing', 'contents_policy_violation'],
  ],
};

const cells = (table: Readonly<Record<ErrorKind, readonly string[]>>): [ErrorKind, string][] =>
  Object.entries(table).flatMap(([kind, texts]) =>
    texts.map((text): [ErrorKind, string] => [kind as ErrorKind, text]),
  );

describe('the kind of an error', () => {
  it('[C7.8] follows from its code, in any spelling', () => {
    const wrong = cells(CODES).filter(([kind, code]) => ofCode(code) !== kind);
    expect(wrong).toEqual([]);
  });

  it('[C7.8] follows from its type as from its code, but for the one that gateways put on everything', () => {
    const asTypes = cells(CODES).map(([kind, type]): [ErrorKind, string] => [
      type.includes('invalid_request_error') ? 'invalid' : kind,
      type,
    ]);
    expect(asTypes.filter(([kind, type]) => ofType(type) !== kind)).toEqual([]);
  });

  it('[C7.8] follows from free text only by whole words', () => {
    const wrong = cells(TEXTS).filter(([kind, text]) => ofText(text) !== kind);
    expect(wrong).toEqual([]);
  });

  it('follows from the status where the body says nothing', () => {
    const byStatus = Object.fromEntries(
      Array.from({ length: 500 }, (_, index) => 100 + index)
        .map((status) => [status, ofStatus(status)] as const)
        .filter(([, kind]) => kind !== 'unknown'),
    );
    expect(byStatus).toEqual({
      ...{ 400: 'invalid', 402: 'quota', 405: 'invalid', 413: 'invalid', 415: 'invalid' },
      ...{ 422: 'invalid', 425: 'capacity', 429: 'capacity', 503: 'capacity' },
    });
    expect(errorKind(nothing)).toBe('unknown');
  });

  it('[C7.8] is what the body says where the status says something else', () => {
    const at = (httpStatus: number, code: string) => errorKind({ ...nothing, codes: [code], httpStatus });
    expect(at(503, 'moderation_blocked')).toBe('moderation');
    expect(at(429, 'insufficient_quota')).toBe('quota');
    expect(at(503, 'invalid_size')).toBe('invalid');
    // The generic word loses against the status.
    expect(at(429, 'invalid_request_error')).toBe('capacity');
    expect(at(402, 'invalid_request_error')).toBe('quota');
    expect(errorKind({ ...nothing, types: ['an_invalid_request_error'], httpStatus: 503 })).toBe('capacity');
  });

  it('is decided by the most telling sign, wherever it stands', () => {
    expect(errorKind({ codes: ['429', 'nsfw'], types: ['invalid_size'], text: '' })).toBe('moderation');
    expect(errorKind({ codes: ['invalid_size'], types: ['server_busy'], text: '' })).toBe('capacity');
    expect(errorKind({ ...nothing, codes: ['429'], text: 'quota_exceeded' })).toBe('quota');
  });

  it('has an example in every line of its table', () => {
    for (const signal of KIND_SIGNALS) {
      if ('code' in signal) expect(signal.like).toMatch(signal.code);
      if ('word' in signal) expect(signal.like).toMatch(signal.word);
      if ('type' in signal) expect(signal.like).toMatch(signal.type);
    }
  });
});

describe('what a reply to a paid call proves', () => {
  const paid = (status: number, own: Partial<PaidReply> = {}, policy = DEFAULT_CREATE_POLICY) =>
    meaningOfPaid({ status, kind: 'unknown', hasRetryAfter: false, readable: false, ...own }, policy);

  it.each([
    [400, 'invalid', 'invalid_request', /^The service rejected the request, possibly before a task existed/],
    [401, 'unknown', 'credentials', /^The service did not accept the credentials, .* Check the key/],
    [402, 'unknown', 'quota', /no quota or balance left .* Top up or raise the quota\.$/],
    [400, 'moderation', 'moderation', /^The service refused the content\. .*refused again\. Change/],
    [400, 'capacity', 'capacity', /no capacity for this call right now\. Try again later\.$/],
  ] as const)('[C7.1] %i with an error of kind %s is %s, and its message says what to do', (...one) => {
    const [status, kind, reason, message] = one;
    expect(paid(status, { kind })).toEqual({
      class: 'rejected',
      reason,
      message: expect.stringMatching(message) as string,
    });
  });

  it('an error that the policy treats as a refusal is told as such', () => {
    expect(paid(500, {}, resolveCreatePolicy({ on500: 'fail' }))).toEqual({
      class: 'rejected',
      reason: 'service_error',
      message: expect.stringMatching(/^The service returned an error that the policy treats/) as string,
    });
  });

  it('anything else has a class and no message', () => {
    expect(paid(200, { readable: true })).toEqual({ class: 'accepted' });
    expect(paid(200)).toEqual({ class: 'unconfirmed' });
    expect(paid(429)).toEqual({ class: 'refused_for_now' });
    expect(paid(502)).toEqual({ class: 'unconfirmed' });
  });
});

it.each([
  [101, 'unreadable'],
  [199, 'unreadable'],
  [200, 'record'],
  [299, 'record'],
  [300, 'unreadable'],
  [399, 'unreadable'],
  [400, 'bad_request'],
  [401, 'credentials'],
  [402, 'credentials'],
  [403, 'credentials'],
  [404, 'not_found'],
  [405, 'bad_request'],
  [408, 'unavailable'],
  [409, 'unavailable'],
  [410, 'not_found'],
  [425, 'unavailable'],
  [429, 'rate_limited'],
  [499, 'bad_request'],
  [500, 'unavailable'],
  [599, 'unavailable'],
])('a GET that is answered with %i is %s', (status, expected) => {
  expect(meaningOfGet(status)).toBe(expected);
});
