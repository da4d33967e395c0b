import { amount, type Check, must } from './shape';

/** Milliseconds, or a string such as `15m` or `2 days`; at most ten years. */
export type DurationInput = number | string;

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Names of units, as Temporal accepts them. */
const UNITS: readonly (readonly [unit: RegExp, ms: number])[] = [
  [/^(?:ms|msecs?|milliseconds?|)$/i, 1],
  [/^(?:s|secs?|seconds?)$/i, SECOND],
  [/^(?:m|mins?|minutes?)$/i, MINUTE],
  [/^(?:h|hrs?|hours?)$/i, HOUR],
  [/^(?:d|days?)$/i, DAY],
  [/^(?:w|weeks?)$/i, 7 * DAY],
  [/^(?:y|yrs?|years?)$/i, 365.25 * DAY],
];

/** Ten years: a Temporal server cannot keep a time that is centuries away. */
const LONGEST_MS = 3_653 * DAY;

/** Milliseconds of a duration as Temporal writes them; undefined for anything else, and for more than ten years. */
export function milliseconds(input: unknown): number | undefined {
  const ms = typeof input === 'string' ? msOfText(input) : input;
  return typeof ms === 'number' && ms >= 0 && ms <= LONGEST_MS ? Math.round(ms) : undefined;
}

function msOfText(text: string): number | undefined {
  const [, value, unit = ''] = (text.length <= 100 ? /^(\d*\.?\d+) *([a-z]*)$/i.exec(text) : null) ?? [];
  const ms = UNITS.find(([pattern]) => pattern.test(unit))?.[1];
  return value === undefined || ms === undefined ? undefined : Number(value) * ms;
}

/** In milliseconds, as our own messages have it. */
export const durationMs: Check<number> = amount(0, LONGEST_MS);

export const duration: Check<DurationInput> = must(
  'a duration such as "15m" or milliseconds, at most ten years',
  (value) => milliseconds(value) !== undefined,
);
