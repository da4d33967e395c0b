import { milliseconds } from '../workflows/inputs';

/** Milliseconds of a duration with its unit, such as 90s or 3d; undefined for anything else. */
export function durationOf(text: string): number | undefined {
  return /[a-z]/i.test(text) ? milliseconds(text) : undefined;
}
