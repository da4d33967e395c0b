import { classifyPaidReply, type PaidReply, type ReplyClass } from '../domain/create-decision';
import { type ResolvedCreatePolicy } from '../domain/create-policy';
import { type RejectReason } from '../domain/paid-call';
import { type PollErrorClass } from '../domain/poll-answers';

/** HTTP status of a GET → what it means, once (contract 7, failure model: Refusals that are sent again). Total. */
export function meaningOfGet(status: number): PollErrorClass | 'record' {
  if (status >= 200 && status < 300) return 'record';
  switch (status) {
    case 401:
    case 402:
    case 403:
      return 'credentials';
    case 404:
    case 410:
      return 'not_found';
    case 429:
      return 'rate_limited';
    case 408:
    case 409:
    case 425:
      return 'unavailable';
    default:
      if (status >= 500) return 'unavailable';
      return status >= 400 ? 'bad_request' : 'unreadable';
  }
}

/** What a reply to a paid call proves, as the three groups that a sender tells apart. */
export type PaidMeaning =
  | { readonly class: 'accepted' | 'refused_for_now' | 'unconfirmed' }
  | { readonly class: 'rejected'; readonly reason: RejectReason; readonly message: string };

const REJECTED: {
  readonly [replyClass in Extract<ReplyClass, `rejected_${string}`>]: readonly [RejectReason, string];
} = {
  rejected_invalid: [
    'invalid_request',
    'The service refused the request, possibly before a task existed (parsing or capability validation). Check model, type, duration, resolution, aspect ratio, size, quality, count and references, then send a corrected request.',
  ],
  rejected_credentials: [
    'credentials',
    'The service did not accept the credentials or their access. Check the key and its permissions.',
  ],
  rejected_quota: ['quota', 'The account has no quota or balance left for this call. A person must look.'],
  rejected_moderation: [
    'moderation',
    'The service refused the content. The same request will be refused again; change the prompt or the references.',
  ],
  rejected_capacity: [
    'capacity',
    'The service has no capacity for this call now. It can be tried again later.',
  ],
  rejected_service_error: [
    'service_error',
    'The service answered with an error that the policy treats as a refusal. It may have failed before a task existed; that is not by itself a fault of the provider.',
  ],
};

/** HTTP status, body and policy of a reply to a paid call → what it means, once (failure model: rows 23 to 37). */
export function meaningOfPaid(reply: PaidReply, policy: ResolvedCreatePolicy): PaidMeaning {
  const replyClass = classifyPaidReply(reply, policy);
  if (replyClass === 'accepted' || replyClass === 'refused_for_now' || replyClass === 'unconfirmed')
    return { class: replyClass };
  const [reason, message] = REJECTED[replyClass];
  return { class: 'rejected', reason, message };
}
