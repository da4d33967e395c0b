import { createHash } from 'node:crypto';
import { type JournalKey } from '../domain/create-journal';

/** What the header of the policy `idempotencyHeader` carries: the digest of a creation key in its namespace. */
export function idempotencyKey({ namespace, creationKey }: JournalKey): string {
  return createHash('sha256').update(`${namespace}\n${creationKey}`).digest('hex');
}
