import { createHash } from 'node:crypto';
import { type JournalKey } from '../domain/journal';

/**
 * The header value of the policy `idempotency`: one digest per send attempt, because a send that a person authorised
 * again is a separate purchase.
 */
export function idempotencyKey({ namespace, creationKey }: JournalKey, sendAttempt: number): string {
  return createHash('sha256').update(`${namespace}\n${creationKey}\n${sendAttempt}`).digest('hex');
}
