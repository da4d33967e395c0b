import { type JsonValue } from './json';
import { type ModelEntry, type PriceRule } from './model-config';
import { type PaidRequest } from './request';
import { type Check, name, objectOf, whole } from './shape';

/** The request values that a price rule can depend on (contract 1). */
interface PricedSpec {
  readonly durationSeconds?: number | undefined;
  readonly resolution?: string | undefined;
  readonly size?: string | undefined;
  readonly quality?: string | undefined;
  /** Number of image results. The price is multiplied by this number. Polls never change the price. */
  readonly n?: number | undefined;
}

/** Returns the estimate for one paid call, or null if it is unknown, which never means 0 (C1.5). */
export function estimatePrice(rule: PriceRule | undefined, spec: PricedSpec): Money | null {
  if (rule === undefined) return null;
  const unit = unitPrice(rule, spec);
  if (unit === null) return null;
  const microUnits = unit * (spec.n ?? 1);
  // A larger number would be inexact, so the price counts as unknown.
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
 * Formats money as `1.20 USD`, or as `1.20` without a currency, with at least two decimal places and more only if they
 * are nonzero. Uses integer arithmetic, so prices are never rounded.
 */
export function formatMoney({ microUnits, currency }: Amount): string {
  const digits = String(Math.abs(microUnits)).padStart(7, '0');
  const decimals = digits.slice(-6).replace(/0{1,4}$/, '');
  return `${microUnits < 0 ? '-' : ''}${digits.slice(0, -6)}.${decimals}${currency ? ` ${currency}` : ''}`;
}

const AMOUNT = /^([0-9]{1,9})(?:\.([0-9]{1,6}))?\s*([a-z]{3})?$/i;

/**
 * Parses a decimal amount such as `0.50`, `0.50USD` or `0.50 EUR` into micro-units. Returns undefined if the text is
 * not an amount.
 */
export function readAmount(text: string): Amount | undefined {
  const found = AMOUNT.exec(text.trim());
  if (found === null) return undefined;
  const [, whole = '', decimals = '', currency] = found;
  return {
    microUnits: Number(whole) * 1_000_000 + Number(decimals.padEnd(6, '0')),
    currency: currency?.toUpperCase() ?? null,
  };
}

/** An amount whose currency may be unknown. */
export interface Amount {
  /** A safe integer. */
  readonly microUnits: number;
  /** ISO 4217 code. */
  readonly currency: string | null;
}

/** Money in integer micro-units of a currency: 1 USD = 1,000,000. */
export interface Money {
  /** A safe integer. */
  readonly microUnits: number;
  /** ISO 4217 code. */
  readonly currency: string;
}

/** Checks a caller's budget. Planning rejects a currency that no price uses. */
export const moneyCheck: Check<Money> = objectOf<Money>({ microUnits: whole(0), currency: name() });

/**
 * The known cost of one paid call (contract 1, architecture: Outcomes).
 * - `settled`: the service reported usage and the task has ended.
 * - `reserved`: money may be owed, and the final amount is not known yet.
 * - `needs_review`: a person must check the bill (the call failed, its usage is lost or unreported, or the service
 *   rejected it after validating it).
 * - `none`: provably nothing is owed, because nothing was sent or the service refused it without validating it.
 */
export interface Billing {
  /** From the configured price rule; null means unknown, never free. */
  readonly estimate: number | null;
  /** ISO 4217 code of the estimate; null if the estimate is unknown. */
  readonly currency: string | null;
  /** The service's `usage`, unchanged. Its absence never means a cost of 0 (C1.9). */
  readonly usage?: JsonValue;
  /** Whether the cost is final. */
  readonly state: 'settled' | 'reserved' | 'needs_review' | 'none';
}

/** Returns the billing for an estimate. A null estimate means that the price is unknown. */
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

/** Whether `usage` contains an amount. Services also fill it with empty objects, nulls, names and numeric strings. */
function saysHowMuch(usage: JsonValue | undefined): boolean {
  if (typeof usage === 'number') return Number.isFinite(usage);
  if (typeof usage === 'string') return usage.trim() !== '' && Number.isFinite(Number(usage));
  if (typeof usage !== 'object' || usage === null) return false;
  return Object.values(usage).some((inner: JsonValue) => saysHowMuch(inner));
}

/** Estimates one paid call from its model's price rule; null means unknown, never free. */
export function estimateFor(paid: PaidRequest, entry: ModelEntry | undefined): Money | null {
  if (paid.operation === 'create_video') {
    const { durationSeconds, resolution } = paid.request;
    return estimatePrice(entry?.price, { durationSeconds, resolution });
  }
  const { size, quality, n } = paid.request;
  return estimatePrice(entry?.price, { size, quality, n });
}

/** A spend limit's possible windows, each with the length of the ISO 8601 prefix that identifies it, in characters. */
const WINDOWS = { hour: 13, day: 10, month: 7 } as const;

type SpendPeriod = keyof typeof WINDOWS;

export const SPEND_PERIODS = Object.keys(WINDOWS) as [SpendPeriod, ...SpendPeriod[]];

/** The most that an account's calls may cost in a UTC hour, day or month, according to their estimates. */
export interface SpendLimit extends Money {
  readonly per: SpendPeriod;
}

interface SpendWindow {
  /** Common prefix of the ISO 8601 times in this window: `2026-01-31T07`, `2026-01-31`, `2026-01`. */
  readonly id: string;
  /** Milliseconds since the Unix epoch. */
  readonly endsAt: number;
}

/**
 * Returns the window that contains `now`.
 * @param now milliseconds since the Unix epoch
 */
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
