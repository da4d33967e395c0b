import { ApplicationFailure } from '@temporalio/workflow';
import { failureRow } from '../domain/failure-table';
import { type ImageOutcome, type VideoOutcome } from '../domain/outcome';

/**
 * An outcome that is a success; any other ends the calling workflow as failed, so that one that ignores outcomes does not
 * end as completed. What the outcome holds, such as the id of a task that goes on, is in the details of the failure.
 *
 * @throws ApplicationFailure its `type` is that of the outcome, such as `still_running`, its only detail the outcome; it
 * is not retryable where the same call would end so again
 */
export function orThrow<Outcome extends VideoOutcome | ImageOutcome>(
  outcome: Outcome,
): Extract<Outcome, { readonly outcome: 'completed' }> {
  if (isCompleted(outcome)) return outcome;
  const { type = outcome.outcome, meaning = '', hint = '', retryable } = failureRow(outcome) ?? {};
  throw ApplicationFailure.create({
    type: outcome.outcome,
    message: `${type}: ${meaning} ${hint}`,
    nonRetryable: retryable === 'no',
    details: [outcome],
  });
}

function isCompleted<Outcome extends VideoOutcome | ImageOutcome>(
  outcome: Outcome,
): outcome is Extract<Outcome, { readonly outcome: 'completed' }> {
  return outcome.outcome === 'completed';
}
