import { type IdempotencyPolicy } from './create-policy';
import { type CreateEvidence } from './paid-call';
import { CREATE_TIMEOUTS } from './timeouts';

/** What an intent records of an idempotency key that the operator vouches for. */
export interface HonouredKey {
  readonly header: string;
  /** ISO 8601: nothing is sent under the key after this. */
  readonly lastSendAt: string;
}

/**
 * The window counts from the intent, which is never later than the first request that the service received. A send
 * that begins at its end may be in flight for the whole budget of an exchange.
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

/** Error kinds that the same request gets again, whatever was accepted. */
const LASTING: ReadonlySet<string> = new Set(['moderation', 'invalid', 'quota']);

/** Lost, cut, stalled, unreadable, 408, in progress (409) or a server error: the same call may settle the fate. */
function mayBeAskedAgain({ httpStatus, kind, code }: CreateEvidence): boolean {
  if (kind !== null && LASTING.has(kind)) return false;
  if (httpStatus === null || httpStatus < 300 || httpStatus === 408 || httpStatus >= 500) return true;
  return httpStatus === 409 && !/mismatch|different|reus/i.test(code ?? '');
}
