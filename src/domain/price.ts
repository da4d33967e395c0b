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
  return { microUnits: unit * (spec.n ?? 1), currency: rule.currency };
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
