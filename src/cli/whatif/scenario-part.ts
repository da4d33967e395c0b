import { type FaultRule } from '../../testing/sandbox/faults';

/** What one kind of request contributes to a scenario. */
export interface ScenarioPart {
  readonly faults: readonly FaultRule[];
  readonly notPlayed: readonly string[];
}
