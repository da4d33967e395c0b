import { hash } from 'node:crypto';
import { type PollSpread } from '../domain/poll-answers';

/** GETs of one step leave together: a wake-up for each would cost a fifth of a poll, and 10 ms in seconds are nothing. */
const STEP_MS = 20;

/**
 * When a task of a tick is asked for, in milliseconds since the epoch. Without a spread: at once. With one: as long after
 * the last time as tasks of its group are meant to be, give or take half a step, within the part of the tick that the
 * spread names. So the phase of a task absorbs what its tick came too early or too late, and ticks of many groups share
 * the machine evenly.
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
  const wanted = next < tickAt - everyMs / 2 ? tickAt + Math.floor(placeOf(task) * overMs) : next;
  // Steps of the clock, so that those of all ticks fall together. Rounded: a gap that was rounded up would grow.
  const step = Math.round(wanted / STEP_MS) * STEP_MS;
  return Math.min(Math.max(step, tickAt), tickAt + overMs);
}

/** From 0 to below 1, the same for the same task. */
function placeOf(task: string): number {
  return parseInt(hash('sha256', task, 'hex').slice(0, 8), 16) / 2 ** 32;
}
