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
