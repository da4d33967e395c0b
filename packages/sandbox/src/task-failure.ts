import { type JsonObject } from './json-value';

/** Kinds of failure that a prompt directive can ask for. */
export type FailureKind = 'moderation' | 'capacity' | 'invalid' | 'quota' | 'unknown';

/** Fields that a failed record carries. The contract defines no shape (2.2), so they vary on purpose. */
const shapes: Record<FailureKind, JsonObject[]> = {
  moderation: [
    { error: { code: 'moderation_blocked', message: 'The request was blocked by our moderation system.' } },
    {
      error: {
        code: 'content_policy_violation',
        message: 'The prompt was rejected.',
        type: 'invalid_request',
      },
    },
    { error: 'InputTextSensitiveContentDetected: the input text may contain sensitive information.' },
    { error: { code: 400, message: 'DataInspectionFailed: input data may contain inappropriate content.' } },
    { error: null, failureCode: 'SAFETY.INPUT.TEXT', fail_reason: 'Generation blocked.' },
  ],
  capacity: [
    { error: { code: 'ServerOverloaded', message: 'The service is overloaded, try again later.' } },
    { error: { code: 503, message: 'ModelLoadingError' } },
    { error: { code: 'EndpointRateLimitExceeded', message: 'Too many tasks.' } },
    { error: null, fail_reason: 'THROTTLED' },
    { error: { code: '', message: 'UNAVAILABLE: no worker is free' } },
  ],
  invalid: [
    { error: { code: 'InvalidParameter', message: 'The reference image could not be decoded.' } },
    { error: { code: 'invalid_request_error', message: 'resolution is not supported with this reference.' } },
    { error: { message: 'invalid parameter: aspect_ratio', code: 400 } },
  ],
  quota: [
    { error: { code: 'QuotaExceeded', message: 'Your quota is used up.' } },
    { error: { code: 'insufficient_balance', message: 'Please top up.' } },
    { error: { code: 402, message: 'billing limit reached' } },
  ],
  unknown: [
    { error: { message: 'An unexpected error occurred.' } },
    { error: 'task failed' },
    { error: {} },
    { error: null },
    {},
  ],
};

/** The fields of a failed record of this kind; `turn` selects one of the shapes. */
export function failureFields(kind: FailureKind, turn: number): JsonObject {
  const list = shapes[kind];
  return { ...list[turn % list.length] };
}
