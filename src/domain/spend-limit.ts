import { type Money } from './price';

/** Lengths of the windows of a spend limit, and how much of an ISO 8601 time names one, in characters. */
const WINDOWS = { hour: 13, day: 10, month: 7 } as const;

export type SpendPeriod = keyof typeof WINDOWS;

export const SPEND_PERIODS = Object.keys(WINDOWS) as [SpendPeriod, ...SpendPeriod[]];

/** The most that the calls of an account may cost in an hour, a day or a month of UTC, by their estimates. */
export interface SpendLimit extends Money {
  readonly per: SpendPeriod;
}

export interface SpendWindow {
  /** Beginning of the ISO 8601 times in it: `2026-01-31T07`, `2026-01-31`, `2026-01`. */
  readonly id: string;
  /** Milliseconds since the Unix epoch. */
  readonly endsAt: number;
}

/** @param now milliseconds since the Unix epoch */
export function spendWindow(per: SpendPeriod, now: number): SpendWindow {
  const at = new Date(now);
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()];
  const endsAt = {
    hour: Date.UTC(year, month, day, at.getUTCHours() + 1),
    day: Date.UTC(year, month, day + 1),
    month: Date.UTC(year, month + 1),
  }[per];
  return { id: at.toISOString().slice(0, WINDOWS[per]), endsAt };
}
