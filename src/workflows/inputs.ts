import { ApplicationFailure } from '@temporalio/workflow';
import { unknownKey, type Keys } from '../domain/known-keys';
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

/** For workflows that buy nothing: what cannot be understood is no outcome. @throws ApplicationFailure InvalidInput */
export function refuseUnknownKeys(input: unknown, known: Keys): void {
  const issue = unknownKey(input, known);
  if (issue !== undefined) throw ApplicationFailure.nonRetryable(issue.message, 'InvalidInput');
}
