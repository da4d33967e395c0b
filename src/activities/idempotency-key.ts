import { createHash } from 'node:crypto';
import { type JournalKey } from '../domain/journal';

/** What the header of the policy `idempotency` carries: one digest per send attempt, as a send that was authorised anew is a purchase of its own. */
export function idempotencyKey({ namespace, creationKey }: JournalKey, sendAttempt: number): string {
  return createHash('sha256').update(`${namespace}\n${creationKey}\n${sendAttempt}`).digest('hex');
}
