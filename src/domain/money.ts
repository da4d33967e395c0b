import { type JsonValue } from './json';
import { type ActualRule, type ModelEntry, type PriceRule } from './model-config';
import { LABELS_MEMO } from './names';
import { type PaidRequest } from './request';
import { type Check, isObject, must, name, objectOf, whole } from './shape';

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
 * - `settled`: the call has ended, and `actual` is what it cost.
 * - `estimated`: the call has ended, the service reported usage, and nothing was billed yet.
 * - `reserved`: money may be owed, and the final amount is not known yet.
 * - `needs_review`: a person must check the bill (the call failed, its usage is lost or unreported, or the service
 *   rejected it after validating it).
 * - `none`: provably nothing is owed, because nothing was sent or the service refused it without validating it.
 */
export interface Billing {
  /** From the configured price rule; null means unknown, never free. */
  readonly estimate: number | null;
  /**
   * What the call cost, according to a bill or to the service's own amount, which the model's `actual` rule reads. In
   * micro-units; 0 if it was not charged, negative for a credit, null while unknown.
   */
  readonly actual: number | null;
  /** ISO 4217 code of both amounts; null if both are unknown. */
  readonly currency: string | null;
  /** The service's `usage`, unchanged. Its absence never means a cost of 0 (C1.9). */
  readonly usage?: JsonValue;
  /** Whether the cost is final. */
  readonly state: 'settled' | 'estimated' | 'reserved' | 'needs_review' | 'none';
}

/** What is known about a call's cost besides its estimate. */
export interface KnownCost {
  readonly usage?: JsonValue | undefined;
  /** The newest bill. */
  readonly actual?: Money | undefined;
  /** Something else under the key may have cost money too, so the bill of this call alone settles nothing. */
  readonly mayBeOwed?: boolean | undefined;
}

/** Returns the billing for an estimate. A null estimate means that the price is unknown. */
export function billing(
  estimate: Money | null,
  state: Billing['state'],
  { usage, actual }: KnownCost = {},
): Billing {
  const known = comparable(actual, estimate);
  return {
    estimate: estimate?.microUnits ?? null,
    actual: known?.microUnits ?? null,
    currency: (estimate ?? known)?.currency ?? null,
    ...(usage === undefined || usage === null ? {} : { usage }),
    state,
  };
}

/** Returns the billing of a call that has ended. @param state the state without a bill */
export function endedBilling(
  estimate: Money | null,
  state: 'estimated' | 'needs_review' | 'none',
  known: KnownCost,
): Billing {
  if (known.mayBeOwed === true) return billing(estimate, 'needs_review', known);
  return billing(estimate, comparable(known.actual, estimate) === undefined ? state : 'settled', known);
}

/** A bill in a currency other than the estimate's counts as unknown, because the two cannot be added up. */
function comparable(actual: Money | undefined, estimate: Money | null): Money | undefined {
  return estimate === null || actual?.currency === estimate.currency ? actual : undefined;
}

/** Returns a successful call's billing state without a bill. If its usage has no number, the cost is unknown. */
export function finishedState(usage: JsonValue | undefined): 'estimated' | 'needs_review' {
  return saysHowMuch(usage) ? 'estimated' : 'needs_review';
}

/** Whether `usage` contains an amount. Services also fill it with empty objects, nulls, names and numeric strings. */
function saysHowMuch(usage: JsonValue | undefined): boolean {
  if (typeof usage === 'number') return Number.isFinite(usage);
  if (typeof usage === 'string') return usage.trim() !== '' && Number.isFinite(Number(usage));
  if (typeof usage !== 'object' || usage === null) return false;
  return Object.values(usage).some((inner: JsonValue) => saysHowMuch(inner));
}

const DECIMAL = /^(\d{1,9})(?:\.(\d{1,6})0*)?$/;

/**
 * Reads a service's amount by its model's rule: a decimal number of at most 6 places, as a number or text. Undefined
 * means unknown, never 0: a missing or negative amount, an exponent, or a fraction of a micro-unit.
 */
export function readActual({ currency }: ActualRule, value: JsonValue | undefined): Money | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined;
  // JavaScript writes numbers below 1e-6 with an exponent, and those are fractions of a micro-unit.
  const [, units, decimals = ''] = DECIMAL.exec(String(value).trim()) ?? [];
  if (units === undefined) return undefined;
  return { microUnits: Number(units) * 1_000_000 + Number(decimals.padEnd(6, '0')), currency };
}

/** Returns the value at a rule's path, a list of property names that dots separate. */
export function valueAt(root: JsonValue | undefined, path: string): JsonValue | undefined {
  let value = root;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    value = Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return value;
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

/**
 * For whom or what a call is made, such as `{ tenant: 'acme' }`. They are in the journal, memos, search attributes,
 * results, reports, notices and what a call waits for, but never in metrics, and change nothing about what is bought.
 */
export type Labels = { readonly [name: string]: string };

const MOST_LABELS = 8;
const LABEL_NAME = /^[a-z][a-z0-9_.-]{0,31}$/;
const LABEL_VALUE = /^[A-Za-z0-9](?:[A-Za-z0-9 ._@:/+-]{0,62}[A-Za-z0-9])?$/;

/** Describes a label, for messages. */
export const LABEL_FORM =
  'a name of lowercase letters, digits, ".", "_" and "-" (at most 32), and a value of letters, digits, spaces and "._@:/+-" (at most 64)';

export const isLabel = ([name, value]: readonly [name: string, value: unknown]): boolean =>
  LABEL_NAME.test(name) && typeof value === 'string' && LABEL_VALUE.test(value);

/** Checks a caller's labels. */
export const labelsCheck: Check<Labels> = must(
  `an object with at most ${MOST_LABELS} labels, each ${LABEL_FORM}`,
  (value) =>
    isObject(value) &&
    Object.keys(value).length <= MOST_LABELS &&
    Object.entries(value).every((label) => isLabel(label)),
);

/** Returns labels as `name=value`, sorted by name, as search attributes and commands write them. */
export function labelTexts(labels: Labels = {}): readonly string[] {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .sort();
}

/** What shares the capacity of a task queue fairly: the values of one label. */
export type Fairness = `label:${string}`;

const OF_LABEL = 'label:' satisfies Fairness;

export const fairnessCheck: Check<Fairness> = must(
  '"label:NAME" with the name of a label',
  (value) =>
    typeof value === 'string' && value.startsWith(OF_LABEL) && LABEL_NAME.test(value.slice(OF_LABEL.length)),
);

/** Returns the label's value that fairness is about; undefined if the labels do not have it. */
export function fairnessValue(fairness: Fairness | undefined, labels: Labels = {}): string | undefined {
  const name = fairness?.slice(OF_LABEL.length);
  return name !== undefined && Object.hasOwn(labels, name) ? labels[name] : undefined;
}

/** Returns the memo of an execution with these labels. */
export function labelsMemo(labels: Labels | undefined): { readonly [LABELS_MEMO]?: Labels } {
  return labels === undefined ? {} : { [LABELS_MEMO]: labels };
}

/** A spend limit's possible windows, each with the length of the ISO 8601 prefix that identifies it, in characters. */
const WINDOWS = { hour: 13, day: 10, month: 7 } as const;

type SpendPeriod = keyof typeof WINDOWS;

export const SPEND_PERIODS = Object.keys(WINDOWS) as [SpendPeriod, ...SpendPeriod[]];

/** The most that an account's calls may cost in a UTC hour, day or month, according to their estimates. */
export interface SpendLimit extends Money {
  readonly per: SpendPeriod;
}

/** What becomes of a call that would exceed a limit: it waits for the next window, or it is rejected. */
export const WHEN_REACHED = ['wait', 'refuse'] as const;

/** The most that an account's calls with the same value of a label may cost in a window. */
export interface LabelLimit {
  /** Name of the label. */
  readonly label: string;
  /** For values that are not in `values`, in micro-units; null means no limit. */
  readonly each: number | null;
  /** By value, in micro-units. */
  readonly values: { readonly [value: string]: number };
  /** ISO 4217 code. */
  readonly currency: string;
  /** The window, in UTC. */
  readonly per: SpendPeriod;
  /** What becomes of a call that does not fit. */
  readonly whenReached: (typeof WHEN_REACHED)[number];
}

/** An account's limits. */
export interface SpendLimits {
  /** @default no limit */
  readonly spendLimit?: SpendLimit | undefined;
  /** @default none */
  readonly limits?: readonly LabelLimit[] | undefined;
}

/** A limit that a call counts against. */
export interface CallLimit extends SpendLimit {
  /** The credential, or `CREDENTIAL/LABEL=VALUE`. Names the log of what was spent. */
  readonly payer: string;
  readonly whenReached: LabelLimit['whenReached'];
}

/** The window of a limit that a call's estimate counts in. */
export interface ReservedIn extends Pick<CallLimit, 'payer' | 'per'> {
  /** A time in the window, ISO 8601. */
  readonly at: string;
}

/** Returns the limits that a credential's call with these labels counts against, the credential's own first. */
export function limitsOf(
  credential: string,
  { spendLimit, limits = [] }: SpendLimits,
  labels: Labels = {},
): readonly CallLimit[] {
  const own =
    spendLimit === undefined ? [] : [{ ...spendLimit, payer: credential, whenReached: 'wait' as const }];
  const ofLabels = limits.flatMap(({ label, each, values, currency, per, whenReached }): CallLimit[] => {
    const value = Object.hasOwn(labels, label) ? labels[label] : undefined;
    if (value === undefined) return [];
    const microUnits = Object.hasOwn(values, value) ? (values[value] as number) : each;
    const payer = `${credential}/${label}=${value}`;
    return microUnits === null ? [] : [{ microUnits, currency, per, whenReached, payer }];
  });
  return [...own, ...ofLabels];
}

/**
 * Returns the limits that are known without a call: the credential's own, and those of each label value that is
 * configured. Other values of a label are only in the journal.
 */
export function configuredLimits(
  credential: string,
  { spendLimit, limits = [] }: SpendLimits,
): readonly CallLimit[] {
  const labels = limits.flatMap(({ label, values }) =>
    Object.keys(values).map((value) => ({ [label]: value })),
  );
  return [
    ...limitsOf(credential, { spendLimit }),
    ...labels.flatMap((one) => limitsOf(credential, { limits }, one)),
  ];
}

/** Returns the limits of a payer. @param payer the credential, or `CREDENTIAL/LABEL=VALUE` */
export function limitsOfPayer(credential: string, limits: SpendLimits, payer: string): readonly CallLimit[] {
  const [name = '', value] = payer.slice(credential.length + 1).split(/=(.*)/s);
  return limitsOf(credential, limits, isLabel([name, value]) ? { [name]: value ?? '' } : {}).filter(
    (limit) => limit.payer === payer,
  );
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
