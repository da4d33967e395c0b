import { type IdempotencyPolicy } from './create-policy';
import { type CreateEvidence } from './paid-call';
import { CREATE_TIMEOUTS } from './timeouts';

/** What an intent keeps of a key that the service is vouched to honour. */
export interface HonouredKey {
  readonly header: string;
  /** ISO 8601: nothing is sent under the key after this. */
  readonly lastSendAt: string;
}

/**
 * The window counts from the intent, which is never later than what the service saw first. A send that begins at its end
 * may still be on its way for the whole budget of an exchange.
 */
export function honouredKey(
  policy: IdempotencyPolicy,
  intentAt: number,
  httpBudgetMs: number,
): HonouredKey | undefined {
  if (policy === 'off' || !('honoured' in policy)) return undefined;
  const { header, windowSeconds } = policy;
  const last = intentAt + windowSeconds * 1000 - httpBudgetMs - CREATE_TIMEOUTS.zombieMarginMs;
  return { header, lastSendAt: new Date(last).toISOString() };
}

/** Until when a call of unknown fate may be sent again under its key; undefined where it may not. */
export function sameKeyUntil(
  { idempotency }: { readonly idempotency?: HonouredKey },
  evidence: CreateEvidence,
  now: number,
): string | undefined {
  if (idempotency === undefined || now > Date.parse(idempotency.lastSendAt)) return undefined;
  return mayBeAskedAgain(evidence) ? idempotency.lastSendAt : undefined;
}

/** Kinds of an error that the same request meets again, whatever was accepted. */
const LASTING: ReadonlySet<string> = new Set(['moderation', 'invalid', 'quota']);

/** Lost, cut, stalled, unreadable, 408, in progress (409) or the trouble of a server: the same call may find out. */
function mayBeAskedAgain({ httpStatus, kind, code }: CreateEvidence): boolean {
  if (kind !== null && LASTING.has(kind)) return false;
  if (httpStatus === null || httpStatus < 300 || httpStatus === 408 || httpStatus >= 500) return true;
  return httpStatus === 409 && !/mismatch|different|reus/i.test(code ?? '');
}
