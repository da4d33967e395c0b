import fc from 'fast-check';
import { type JsonValue } from '../../src/domain/json';
import { type ErrorKind } from '../../src/domain/video-task';
import { createRedactor } from '../../src/service/redact';
import { readTaskError } from '../../src/service/task-error';

const redactor = createRedactor(['key-1234567890']);
const read = (value: JsonValue | undefined, status?: number) => readTaskError(value, redactor, status);

describe('an error of the service', () => {
  const KINDS: [ErrorKind, readonly string[]][] = [
    [
      'moderation',
      [
        'moderation_blocked',
        'content_policy_violation',
        'image_content_policy_violation',
        'sentinel_block',
        'InputImageSensitiveContentDetected',
        'DataInspectionFailed',
        'SAFETY.VIOLENCE',
        'policy_violation',
        'InvalidParameter.DataInspectionFailed',
      ],
    ],
    [
      'capacity',
      [
        'ServerOverloaded',
        'ModelLoadingError',
        'RequestRateLimitExceeded',
        'THROTTLED',
        'MODEL_UNAVAILABLE',
        'insufficient_capacity',
        'rate_limit_policy',
        '429',
        '503',
      ],
    ],
    [
      'quota',
      ['QuotaExceeded', 'insufficient_quota', 'InsufficientBalance', 'billing_hard_limit_reached', '402'],
    ],
    ['invalid', ['invalid_size', 'InvalidParameter', 'unsupported_duration', 'validation_error', '400']],
    [
      'unknown',
      ['insufficient_permissions', 'invalid_api_key', 'internal_error', 'E1234', 'SAFETYNET', '500'],
    ],
  ];

  it.each(KINDS.flatMap(([kind, codes]) => codes.map((code) => [kind, code] as const)))(
    '[C7.8] %s is what %s says, whatever the status',
    (kind, code) => {
      expect(read({ error: { code, message: 'x' } })).toMatchObject({ kind, code });
      expect(read({ code, message: 'x' }, 500)).toMatchObject({ kind });
      if (kind === 'moderation') expect(read({ error: { code } }, 503)).toMatchObject({ kind });
    },
  );

  it.each([
    ['a rate limit policy applies', 'unknown'],
    ['our policy team was told about moderation', 'unknown'],
    ['blocked: moderation_blocked by upstream', 'moderation'],
    ['upstream said InputTextSensitiveContentDetected', 'moderation'],
    ['insufficient_quota: top up', 'quota'],
    ['upstream ServerOverloaded', 'capacity'],
    ['something broke', 'unknown'],
  ])('free text %j is %s', (text, kind) => {
    expect(read(text)).toEqual({ kind, code: null, message: text });
  });

  it.each<[JsonValue | undefined, Partial<ReturnType<typeof read>>]>([
    [
      { code: 'c', message: 'm' },
      { code: 'c', message: 'm' },
    ],
    [{ message: 'm' }, { code: null, message: 'm' }],
    ['m', { code: null, message: 'm' }],
    [
      { code: 1234, message: 'm' },
      { code: '1234', message: 'm' },
    ],
    [
      { code: '', message: 'm' },
      { code: null, message: 'm' },
    ],
    [{ failureCode: 'SAFETY.X' }, { kind: 'moderation', code: 'SAFETY.X', message: null }],
    [{ fail_reason: 'm' }, { code: null, message: 'm' }],
    [{ error: { message: 'm', type: 't', param: 'p', code: null } }, { code: 't', message: 'm' }],
    [
      { code: 'c', message: 'm', data: null },
      { code: 'c', message: 'm' },
    ],
    [{ detail: 'm' }, { message: 'm' }],
    [
      { detail: [{ loc: ['body', 'seconds'], msg: 'not allowed', type: 'value_error' }] },
      { kind: 'invalid', code: 'value_error', message: 'body.seconds: not allowed' },
    ],
    ['<html><head><title>502 Bad Gateway</title></head>', { message: 'An HTML page: 502 Bad Gateway' }],
    ['<!DOCTYPE html><p>x', { message: 'An HTML page.' }],
    ['', { kind: 'unknown', code: null, message: null }],
    [undefined, { kind: 'unknown', code: null, message: null }],
    [null, { kind: 'unknown', code: null, message: null }],
    [{}, { kind: 'unknown', code: null, message: null }],
    [[], { kind: 'unknown', code: null, message: null }],
    [true, { kind: 'unknown', code: null, message: null }],
    [
      { error: { message: '{"error":{"code":"moderation_blocked","message":"inner"}}' } },
      { kind: 'moderation', code: 'moderation_blocked', message: 'inner' },
    ],
    [
      { code: 'success', message: 'm' },
      { code: null, message: 'm' },
    ],
  ])('[C2.2.8] [C7.13] %j is read', (value, expected) => {
    expect(read(value)).toMatchObject(expected);
  });

  it('the status decides only when the body says nothing', () => {
    expect([400, 402, 413, 422, 429, 503, 500, 404].map((status) => read('', status).kind)).toEqual([
      'invalid',
      'quota',
      'invalid',
      'invalid',
      'capacity',
      'capacity',
      'unknown',
      'unknown',
    ]);
    expect(read({ error: { type: 'invalid_request_error', message: 'slow down' } }, 429).kind).toBe(
      'capacity',
    );
    expect(read({ error: { type: 'invalid_request_error', message: 'x' } }).kind).toBe('invalid');
  });

  it('[C5.4a] [C5.4b] text and code are cleaned and capped', () => {
    const error = read({ code: 'key-1234567890', message: `https://h/x?sig=1 ${'long '.repeat(1000)}` });
    expect(JSON.stringify(error)).not.toMatch(/1234|sig=/);
    expect(error.message?.length).toBeLessThanOrEqual(500);
  });

  it('[C7.13] any JSON value is read without a throw', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), fc.option(fc.nat(600)), (value, status) => {
        const error = read(value as JsonValue, status ?? undefined);
        expect(['moderation', 'capacity', 'invalid', 'quota', 'unknown']).toContain(error.kind);
        expect((error.message ?? '').length).toBeLessThanOrEqual(500);
      }),
    );
  });
});
