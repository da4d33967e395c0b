import { type JsonValue } from './json';
import { type ModelEntry, type PriceRule } from './model-config';
import { type PaidRequest } from './request';
import { type Check, name, objectOf, whole } from './shape';

/** What a price rule can depend on (contract 1). */
interface PricedSpec {
  readonly durationSeconds?: number | undefined;
  readonly resolution?: string | undefined;
  readonly size?: string | undefined;
  readonly quality?: string | undefined;
  /** Number of image results. Multiplies the price; polls never do. */
  readonly n?: number | undefined;
}

/** Returns the estimate for one paid call; null if unknown, which is never the same as 0 (C1.5). */
export function estimatePrice(rule: PriceRule | undefined, spec: PricedSpec): Money | null {
  if (rule === undefined) return null;
  const unit = unitPrice(rule, spec);
  if (unit === null) return null;
  const microUnits = unit * (spec.n ?? 1);
  // A larger number is not exact, so the price is unknown.
  return Number.isSafeInteger(microUnits) ? { microUnits, currency: rule.currency } : null;
}

function unitPrice(rule: PriceRule, spec: PricedSpec): number | null {
  switch (rule.per) {
    case 'task':
      return rule.microUnits;
    case 'second':
      // The model's own default duration is not known here, so there is no estimate without a duration.
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

/**
 * Formats money as `1.20 USD`, with at least two decimals and more only if they are not zero. Uses integer arithmetic,
 * so prices are never rounded.
 */
export function formatMoney({ microUnits, currency }: Money): string {
  const digits = String(microUnits).padStart(7, '0');
  const decimals = digits.slice(-6).replace(/0{1,4}$/, '');
  return `${digits.slice(0, -6)}.${decimals} ${currency}`;
}

const AMOUNT = /^([0-9]{1,9})(?:\.([0-9]{1,6}))?\s*([a-z]{3})?$/i;

/**
 * Reads a decimal amount such as `0.50`, `0.50USD` or `0.50 EUR` into micro-units; undefined if the text is not an
 * amount.
 */
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

/** Money in integer micro-units of a currency: 1 USD = 1,000,000. */
export interface Money {
  /** A safe integer. */
  readonly microUnits: number;
  /** ISO 4217 code. */
  readonly currency: string;
}

/** Checks a caller's budget. The plan refuses a currency that no price uses. */
export const moneyCheck: Check<Money> = objectOf<Money>({ microUnits: whole(0), currency: name() });

/**
 * What is known about the cost of one paid call (contract 1, architecture: Outcomes).
 * - `settled`: the service reported usage and the task has ended.
 * - `reserved`: money may be owed; nothing final is known yet.
 * - `needs_review`: a person must check (failed, lost or unreported usage, or the service validated a request and
 *   refused it).
 * - `none`: nothing was sent, or the service refused it without validating it: provably nothing is owed.
 */
export interface Billing {
  /** From the configured price rule; null means unknown, never free. */
  readonly estimate: number | null;
  /** ISO 4217 code of the estimate; null if the estimate is unknown. */
  readonly currency: string | null;
  /** The service's own `usage`, unchanged. Absent never means a cost of 0 (C1.9). */
  readonly usage?: JsonValue;
  /** Whether the cost is final. */
  readonly state: 'settled' | 'reserved' | 'needs_review' | 'none';
}

/** Returns billing with an estimate from a price rule; the estimate is null without a rule. */
export function billing(estimate: Money | null, state: Billing['state'], usage?: JsonValue): Billing {
  return {
    estimate: estimate?.microUnits ?? null,
    currency: estimate?.currency ?? null,
    ...(usage === undefined || usage === null ? {} : { usage }),
    state,
  };
}

/** Returns a successful call's billing state. If its usage contains no number, the cost is unknown. */
export function finishedState(usage: JsonValue | undefined): 'settled' | 'needs_review' {
  return saysHowMuch(usage) ? 'settled' : 'needs_review';
}

/** Services fill `usage` with empty objects, nulls and names; amounts may also be strings. */
function saysHowMuch(usage: JsonValue | undefined): boolean {
  if (typeof usage === 'number') return Number.isFinite(usage);
  if (typeof usage === 'string') return usage.trim() !== '' && Number.isFinite(Number(usage));
  if (typeof usage !== 'object' || usage === null) return false;
  return Object.values(usage).some((inner: JsonValue) => saysHowMuch(inner));
}

/** Estimates one paid call by its model's price rule; null means unknown, never free. */
export function estimateFor(paid: PaidRequest, entry: ModelEntry | undefined): Money | null {
  if (paid.operation === 'create_video') {
    const { durationSeconds, resolution } = paid.request;
    return estimatePrice(entry?.price, { durationSeconds, resolution });
  }
  const { size, quality, n } = paid.request;
  return estimatePrice(entry?.price, { size, quality, n });
}

/** Lengths of the windows of a spend limit, and how much of an ISO 8601 time names one, in characters. */
const WINDOWS = { hour: 13, day: 10, month: 7 } as const;

type SpendPeriod = keyof typeof WINDOWS;

export const SPEND_PERIODS = Object.keys(WINDOWS) as [SpendPeriod, ...SpendPeriod[]];

/** The most that an account's calls may cost in a UTC hour, day or month, by their estimates. */
export interface SpendLimit extends Money {
  readonly per: SpendPeriod;
}

interface SpendWindow {
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
