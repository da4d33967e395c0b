import { isoOf } from '../domain/clocks';

/**
 * Starts the time of a paid call. The returned function says how many milliseconds are left before its first byte, by
 * whichever clock has gone further: the wall clock may step, and the other one stands still while the machine is
 * suspended.
 */
export function countdown(ms: number): () => number {
  const began = { at: performance.now(), wall: Date.now() };
  return () => {
    // oxlint-disable-next-line house/no-wall-clock-durations -- counts while the machine is suspended
    return ms - Math.max(performance.now() - began.at, Date.now() - began.wall);
  };
}

/** The time after this many milliseconds, as answers and records contain it (ISO 8601). */
export function timeAfter(ms: number): string {
  return isoOf(Date.now() + ms);
}

/** Milliseconds until a time that this worker has just written; 0 where it has passed. */
export function msUntil(time: string): number {
  // oxlint-disable-next-line house/no-wall-clock-durations -- the same clock, a moment later
  return Math.max(0, Date.parse(time) - Date.now());
}

/** Returns the result of the work, or undefined after `ms` milliseconds; the work continues. */
export async function atMostFor<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
