'use strict';
// Few numbers honestly told: order statistics, no means.

/** The value below which the share `p` of the numbers lies, interpolated; NaN without numbers. */
function quantile(numbers, p) {
  const sorted = [...numbers].sort((a, b) => a - b);
  if (sorted.length === 0) return Number.NaN;
  const at = (sorted.length - 1) * p;
  const [low, high] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  return low + (high - low) * (at - Math.floor(at));
}

const median = (numbers) => quantile(numbers, 0.5);

/** Median, p95 and extremes, each to `digits` decimals. */
function summary(numbers, digits = 1) {
  const of = (p) => round(quantile(numbers, p), digits);
  return { count: numbers.length, p50: of(0.5), p95: of(0.95), min: of(0), max: of(1) };
}

/** `12.3 (11.9 to 14.0)`: the median of the rounds, and their spread. */
function medianAndSpread(numbers, digits = 1) {
  const text = (value) => value.toFixed(digits);
  if (numbers.length < 2) return text(median(numbers));
  return `${text(median(numbers))} (${text(Math.min(...numbers))} to ${text(Math.max(...numbers))})`;
}

function round(value, digits = 1) {
  return Number(value.toFixed(digits));
}

module.exports = { median, medianAndSpread, quantile, round, summary };
