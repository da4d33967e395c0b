import { type Money } from './billing';
import { type PriceRule } from './model-config';

/** What a price rule can depend on (contract 1). */
export interface PricedSpec {
  readonly durationSeconds?: number | undefined;
  readonly resolution?: string | undefined;
  readonly size?: string | undefined;
  readonly quality?: string | undefined;
  /** Number of image results; multiplies the price (C1.7). Polls never do (C1.6). */
  readonly n?: number | undefined;
}

/** The estimate of one paid call; null when it is unknown, which is never the same as 0 (C1.5). */
export function estimatePrice(rule: PriceRule | undefined, spec: PricedSpec): Money | null {
  if (rule === undefined) return null;
  const unit = unitPrice(rule, spec);
  if (unit === null) return null;
  const microUnits = unit * (spec.n ?? 1);
  // Beyond this a number is no longer exact: then nobody knows the price.
  return Number.isSafeInteger(microUnits) ? { microUnits, currency: rule.currency } : null;
}

function unitPrice(rule: PriceRule, spec: PricedSpec): number | null {
  switch (rule.per) {
    case 'task':
      return rule.microUnits;
    case 'second':
      // The model's own default duration is not known here, so there is no honest figure without one.
      return spec.durationSeconds === undefined ? null : rule.microUnits * spec.durationSeconds;
    case 'specification': {
      const line = rule.specifications.find(
        (candidate) =>
          matches(candidate.resolution, spec.resolution) &&
          matches(candidate.durationSeconds, spec.durationSeconds) &&
          matches(candidate.size, spec.size) &&
          matches(candidate.quality, spec.quality),
      );
      return line?.microUnits ?? null;
    }
  }
}

function matches<T>(wanted: T | undefined, given: T | undefined): boolean {
  return wanted === undefined || wanted === given;
}

/** `1.20 USD`: at least two decimals, more only where they say something. Integer arithmetic: no price is rounded. */
export function formatMoney({ microUnits, currency }: Money): string {
  const digits = String(microUnits).padStart(7, '0');
  const decimals = digits.slice(-6).replace(/0{1,4}$/, '');
  return `${digits.slice(0, -6)}.${decimals} ${currency}`;
}

const AMOUNT = /^([0-9]{1,9})(?:\.([0-9]{1,6}))?\s*([a-z]{3})?$/i;

/** A decimal amount such as `0.50`, `0.50USD` or `0.50 EUR` in micro-units; undefined when it is none. */
export function readAmount(
  text: string,
): { readonly microUnits: number; readonly currency: string | null } | undefined {
  const found = AMOUNT.exec(text.trim());
  if (found === null) return undefined;
  const [, whole = '', decimals = '', currency] = found;
  return {
    microUnits: Number(whole) * 1_000_000 + Number(decimals.padEnd(6, '0')),
    currency: currency?.toUpperCase() ?? null,
  };
}
