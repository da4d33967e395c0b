import { createHash } from 'node:crypto';
import { type JournalKey } from '../domain/journal';

/** What the header of the policy `idempotency` carries: one digest per epoch, as a send that was authorised anew is a purchase of its own. */
export function idempotencyKey({ namespace, creationKey }: JournalKey, epoch: number): string {
  return createHash('sha256').update(`${namespace}\n${creationKey}\n${epoch}`).digest('hex');
}
