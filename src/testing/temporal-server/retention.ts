const UNIT_SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;

/**
 * Seconds of a retention like `72h`, `3d` or `90m`.
 * @throws RangeError when the text is none, or is shorter than the hour that a Temporal namespace allows at least.
 */
export function retentionSeconds(text: string): number {
  const match = /^(\d{1,6})([smhd])$/.exec(text);
  const seconds = match ? Number(match[1]) * UNIT_SECONDS[match[2] as keyof typeof UNIT_SECONDS] : NaN;
  if (!(seconds >= 3_600)) {
    throw new RangeError(
      `Retention must be a whole number with s, m, h or d and at least 1h; got "${text}".`,
    );
  }
  return seconds;
}

/** The shortest of our notations that is exact: `259200` → `72h`. */
export function formatRetention(seconds: number): string {
  for (const unit of ['h', 'm'] as const) {
    if (seconds % UNIT_SECONDS[unit] === 0) return `${seconds / UNIT_SECONDS[unit]}${unit}`;
  }
  return `${seconds}s`;
}
