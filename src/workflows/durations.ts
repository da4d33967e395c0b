import { type DurationInput } from '../domain/workflow-inputs';
import { msToNumber, type Duration } from '@temporalio/common/lib/time';

/** Milliseconds of a duration input; undefined when it is no duration at all. */
export function milliseconds(input: DurationInput): number | undefined {
  try {
    const value = msToNumber(input as Duration);
    return Number.isFinite(value) && value >= 0 ? value : undefined;
  } catch {
    return undefined;
  }
}
