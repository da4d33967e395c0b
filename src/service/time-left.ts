import { isoOf } from '../domain/clocks';

/**
 * Starts a paid call's countdown. The returned function gives the milliseconds left for sending the first byte, using
 * whichever clock has advanced further: the wall clock may be adjusted, and the monotonic clock stops while the machine
 * is suspended.
 */
export function countdown(ms: number): () => number {
  const began = { at: performance.now(), wall: Date.now() };
  return () => {
    // oxlint-disable-next-line house/no-wall-clock-durations -- keeps counting while the machine is suspended
    return ms - Math.max(performance.now() - began.at, Date.now() - began.wall);
  };
}

/** The ISO 8601 time this many milliseconds from now, in the format that answers and records use. */
export function timeAfter(ms: number): string {
  return isoOf(Date.now() + ms);
}

/** Milliseconds until a time that this worker has just written; 0 if it has passed. */
export function msUntil(time: string): number {
  // oxlint-disable-next-line house/no-wall-clock-durations -- the same clock, a moment later
  return Math.max(0, Date.parse(time) - Date.now());
}

/** Returns the work's result, or undefined after `ms` milliseconds. The work continues in that case. */
export async function atMostFor<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
