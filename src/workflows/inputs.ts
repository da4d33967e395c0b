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

/** Whether an untyped caller gave a request at all: a throw in workflow code would hang the execution. */
export function isRequest(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
