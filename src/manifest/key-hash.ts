import { hash } from 'node:crypto';

/** 64 bits of the SHA-256 of a text, as two unsigned numbers of 32 bits. */
export interface KeyHash {
  readonly high: number;
  readonly low: number;
}

/** For tables of many keys: among a million, two share their 64 bits once in thirty million manifests. */
export function keyHash(key: string): KeyHash {
  const digest = hash('sha256', key, 'hex');
  return { high: parseInt(digest.slice(0, 8), 16), low: parseInt(digest.slice(8, 16), 16) };
}
