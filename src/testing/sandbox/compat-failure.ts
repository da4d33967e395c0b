import { dialectOf } from './dialect';
import { type JsonObject } from './json-value';
import { type FailureKind, failureFields } from './task-failure';

/** The published shape: both fields, both texts. */
const published: Record<FailureKind, { code: string; message: string }> = {
  moderation: { code: 'moderation_blocked', message: 'The request was blocked by our moderation system.' },
  capacity: { code: 'ServerOverloaded', message: 'The service is overloaded, try again later.' },
  invalid: { code: 'InvalidParameter', message: 'The reference image could not be decoded.' },
  quota: { code: 'QuotaExceeded', message: 'Your quota is used up.' },
  unknown: { code: 'video_generation_failed', message: 'An unexpected error occurred.' },
};

/** What writes the fields of a failed record of a model in `compat` mode; `turn` walks through varied shapes. */
export function compatFailure(model: string): (kind: FailureKind, turn: number) => JsonObject {
  return dialectOf(model).failures === 'published'
    ? (kind) => ({ error: { ...published[kind] } })
    : failureFields;
}
