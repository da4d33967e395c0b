import { setTimeout as delay } from 'node:timers/promises';

/** Between two looks, at first and at most: a query costs both processes work that other tests wait for. */
const FIRST_MS = 50;
const LONGEST_MS = 400;

/**
 * Asks another process until it shows what is awaited: what crosses a process boundary has no event to listen to.
 * @throws Error after `limitMs` (default 30 seconds)
 */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined | false>,
  limitMs = 30_000,
): Promise<T> {
  const end = Date.now() + limitMs;
  for (let pause = FIRST_MS; ; pause = Math.min(LONGEST_MS, pause * 1.5)) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    if (Date.now() > end) throw new Error(`Not seen in ${limitMs} ms: ${what}`);
    await delay(pause);
  }
}
