import { type FaultRule } from '@temporal-media/sandbox';

/** What one kind of request contributes to a scenario. */
export interface ScenarioPart {
  readonly faults: readonly FaultRule[];
  readonly notPlayed: readonly string[];
}
