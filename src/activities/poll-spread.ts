import { type PollSpread } from '../domain/poll-answers';

/**
 * When a task of a tick is asked for, in milliseconds since the epoch. Without a spread: at once. With one: as long after
 * the last time as tasks of its group are meant to be, within the part of the tick that the spread names. So the phase of
 * a task absorbs what its tick came too early or too late, and ticks of many groups share the machine evenly.
 * @param lastPolledAt 0 for never
 */
export function dueAt(
  task: string,
  lastPolledAt: number,
  tickAt: number,
  spread: PollSpread | undefined,
): number {
  if (spread === undefined) return tickAt;
  const { everyMs, overMs } = spread;
  const next = lastPolledAt + everyMs;
  // New, or polled by another worker meanwhile: a place of its own, which every worker gives it.
  if (next < tickAt - everyMs / 2) return tickAt + Math.floor(placeOf(task) * overMs);
  return Math.min(Math.max(next, tickAt), tickAt + overMs);
}

/** From 0 to below 1, the same for the same task (FNV-1a). */
function placeOf(task: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < task.length; at += 1) hash = Math.imul(hash ^ task.charCodeAt(at), 0x01000193);
  // The last characters alone hardly reach the high bits.
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
}
