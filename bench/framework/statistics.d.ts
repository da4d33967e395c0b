export interface Summary {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly min: number;
  readonly max: number;
}

/** The value below which the share `p` of the numbers lies, interpolated; NaN without numbers. */
export function quantile(numbers: readonly number[], p: number): number;
export function median(numbers: readonly number[]): number;
/** Each to `digits` decimals. @default 1 */
export function summary(numbers: readonly number[], digits?: number): Summary;
/** `12.3 (11.9 to 14.0)`: the median of the rounds, and their spread. */
export function medianAndSpread(numbers: readonly number[], digits?: number): string;
export function round(value: number, digits?: number): number;
