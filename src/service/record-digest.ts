import { hash } from 'node:crypto';
import { type PolledRecord } from '../domain/poll-answers';

/** Eight characters are enough to tell a record from its predecessor; they cross with every tick. */
export function recordDigest(record: PolledRecord): string {
  return hash('sha256', JSON.stringify(record), 'base64url').slice(0, 8);
}
