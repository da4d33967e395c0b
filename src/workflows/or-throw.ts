import { ApplicationFailure } from '@temporalio/workflow';
import { type ImageOutcome, type VideoOutcome } from '../domain/outcome';

type Outcome = VideoOutcome | ImageOutcome;
type Completed<Of> = Extract<Of, { readonly outcome: 'completed' }>;

/** Under the same key another try of the workflow gets the same again, unless a person does something first. */
const FINAL: ReadonlySet<string> = new Set(['failed', 'rejected', 'unconfirmed', 'task_unknown']);

/**
 * An outcome that is a success; any other ends the calling workflow as failed, so that one that ignores outcomes does not
 * end as completed. What the outcome holds, such as the id of a task that goes on, is in the details of the failure.
 *
 * @throws ApplicationFailure its `type` is that of the outcome, such as `still_running`, its only detail the outcome; it
 * is not retryable where another try of the workflow would end so again, unless a person does something first
 */
export function orThrow<Of extends Outcome>(outcome: Of): Completed<Of> {
  if (isCompleted(outcome)) return outcome;
  const { outcome: type } = outcome;
  const detail = detailOf(outcome);
  throw ApplicationFailure.create({
    type,
    message: `${type}${detail === '' ? '' : `/${detail}`}: the outcome, with the id of its task where there is one, is in the details.`,
    nonRetryable: FINAL.has(type),
    details: [outcome],
  });
}

function isCompleted<Of extends Outcome>(outcome: Of): outcome is Of & Completed<Of> {
  return outcome.outcome === 'completed';
}

/** Why, as the table of failures names it (docs/errors.md). */
function detailOf(outcome: Outcome): string {
  if (outcome.outcome === 'failed') return outcome.error.kind;
  return 'reason' in outcome ? outcome.reason : '';
}
