import { type FaultRule } from '../../testing/sandbox/faults';

/** What one kind of request contributes to a plan. */
export interface PlannedPart {
  readonly faults: readonly FaultRule[];
  readonly notPlayed: readonly string[];
}
