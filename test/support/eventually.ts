import { setTimeout as delay } from 'node:timers/promises';

/**
 * Asks another process until it shows what is awaited: what crosses a process boundary has no event to listen to.
 * @throws Error after `limitMs` (default 30 seconds)
 */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined | false>,
  limitMs = 30_000,
): Promise<T> {
  for (const end = Date.now() + limitMs; ; await delay(100)) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    if (Date.now() > end) throw new Error(`Not seen in ${limitMs} ms: ${what}`);
  }
}
