import { type ResolvedCreatePolicy } from './create-policy';
import { type ErrorKind } from './task-error';

/** What one reply to a paid call proves (failure model: Four classes and Every point of failure). */
export type ReplyClass =
  | 'accepted'
  | 'refused_for_now'
  | 'rejected_invalid'
  | 'rejected_credentials'
  | 'rejected_quota'
  | 'rejected_moderation'
  | 'rejected_capacity'
  | 'rejected_service_error'
  | 'unconfirmed';

export interface PaidReply {
  readonly status: number;
  readonly kind: ErrorKind;
  /** Whether the reply had a Retry-After, understood or not: it is the invitation that counts here, not its time. */
  readonly hasRetryAfter: boolean;
  /** Whether a 2xx body was read as what this call returns: a usable task id, or an image response. */
  readonly readable: boolean;
}

/** Refused before anything was done, for good (failure model: row 23). */
const REFUSED_FOR_GOOD: ReadonlySet<number> = new Set([400, 401, 402, 403, 404, 405, 413, 415, 422]);

function forKind(kind: ErrorKind): ReplyClass | undefined {
  if (kind === 'moderation') return 'rejected_moderation';
  if (kind === 'quota') return 'rejected_quota';
  if (kind === 'invalid') return 'rejected_invalid';
  return undefined;
}

/**
 * Status, body kind and policy → class. Total: a status that is in no row is unconfirmed.
 * The body's kind overrides only where the status alone already proves a refusal (architecture: Create).
 */
export function classifyPaidReply(reply: PaidReply, policy: ResolvedCreatePolicy): ReplyClass {
  const { status, kind } = reply;
  if (status >= 200 && status < 300) return reply.readable ? 'accepted' : 'unconfirmed';
  if (REFUSED_FOR_GOOD.has(status)) {
    if (status === 401 || (status === 403 && kind !== 'moderation' && kind !== 'quota'))
      return 'rejected_credentials';
    if (status === 402) return kind === 'moderation' ? 'rejected_moderation' : 'rejected_quota';
    return forKind(kind) ?? (kind === 'capacity' ? 'rejected_capacity' : 'rejected_invalid');
  }
  if (status === 425) return forKind(kind) ?? 'refused_for_now';
  if (status === 429)
    return forKind(kind) ?? (policy.on429 === 'resend' ? 'refused_for_now' : 'rejected_capacity');
  if (status === 503) return classify503(reply, policy);
  if (status === 502) return vouched(policy.on502);
  if (status === 504) return vouched(policy.on504);
  if (status === 500) return vouched(policy.on500);
  return 'unconfirmed';
}

function classify503(reply: PaidReply, policy: ResolvedCreatePolicy): ReplyClass {
  // Named words only: a word that is none of them must not send again.
  const refused = policy.on503 === 'resend' || (policy.on503 === 'header' && reply.hasRetryAfter);
  if (!refused) return 'unconfirmed';
  return forKind(reply.kind) ?? 'refused_for_now';
}

function vouched(knob: 'inspect' | 'resend' | 'fail'): ReplyClass {
  if (knob === 'resend') return 'refused_for_now';
  return knob === 'fail' ? 'rejected_service_error' : 'unconfirmed';
}
