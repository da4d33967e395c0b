import { type JsonValue } from './json';

/** Money in integer micro-units of a currency: 1 USD = 1,000,000. */
export interface Money {
  readonly microUnits: number;
  /** ISO 4217 code. */
  readonly currency: string;
}

/**
 * What is known about the cost of one paid call (contract 1, architecture: Outcomes).
 * - `settled`: the service reported usage and the task is over.
 * - `reserved`: money may be owed; nothing final is known yet.
 * - `needs_review`: a person must look (failed, lost or unreported usage, or the service judged a request and refused it).
 * - `none`: nothing was sent, or the service refused to look at it: provably nothing is owed.
 */
export interface Billing {
  /** From the configured price rule; null means unknown, never free (C1.5). */
  readonly estimate: number | null;
  readonly currency: string | null;
  /** The service's own `usage`, kept as it came. Absent never means a cost of 0 (C1.9). */
  readonly usage?: JsonValue;
  readonly state: 'settled' | 'reserved' | 'needs_review' | 'none';
}

/** Billing with the estimate of a price rule, or `unknown` when there is none. */
export function billing(estimate: Money | null, state: Billing['state'], usage?: JsonValue): Billing {
  return {
    estimate: estimate?.microUnits ?? null,
    currency: estimate?.currency ?? null,
    ...(usage === undefined || usage === null ? {} : { usage }),
    state,
  };
}

/** The state of a finished, successful call: without a number in its usage nobody can say what it cost (C1.9). */
export function finishedState(usage: JsonValue | undefined): 'settled' | 'needs_review' {
  return saysHowMuch(usage) ? 'settled' : 'needs_review';
}

/** Services fill `usage` with empty objects, nulls and names; amounts also come as texts. */
function saysHowMuch(usage: JsonValue | undefined): boolean {
  if (typeof usage === 'number') return Number.isFinite(usage);
  if (typeof usage === 'string') return usage.trim() !== '' && Number.isFinite(Number(usage));
  if (typeof usage !== 'object' || usage === null) return false;
  return Object.values(usage).some((inner: JsonValue) => saysHowMuch(inner));
}
