import { createHash } from 'node:crypto';
import { type JournalKey } from '../domain/journal';

/**
 * The header value of the policy `idempotency`: one digest per send attempt, because a send that a person authorised
 * again is a separate purchase, and per journal, because two deployments on one account may use the same creation keys.
 * Only the intent of a send takes it from here: whatever is sent in its send attempt later carries the recorded key.
 */
export function idempotencyKey(
  journalId: string,
  { namespace, creationKey }: JournalKey,
  sendAttempt: number,
): string {
  const parts = [journalId, namespace, creationKey, sendAttempt];
  return createHash('sha256').update(parts.join('\n')).digest('hex');
}
