import { failureRow } from '../../domain/failure-table';
import { type ImageOutcome, type VideoOutcome } from '../../domain/outcome';
import { type DemoResult } from './demo-case';

/** An outcome as the table of expectations names it: `completed`, `still_running`, or a type of the failure table. */
export function outcomeWords(outcome: VideoOutcome | ImageOutcome): string {
  return failureRow(outcome)?.type ?? outcome.outcome;
}

/** What the demo reports about an outcome. */
export function resultOf(outcome: VideoOutcome | ImageOutcome): DemoResult {
  const seen = outcomeWords(outcome);
  switch (outcome.outcome) {
    case 'completed':
      return 'images' in outcome
        ? { seen, notes: [], artifacts: outcome.images }
        : { seen, notes: [`task ${outcome.video.taskId}`], artifacts: [outcome.artifact] };
    case 'failed': {
      const again = outcome.retryable ? 'another attempt can make sense' : 'another attempt makes no sense';
      return {
        seen,
        notes: [`task ${outcome.video.taskId}: ${outcome.error.message ?? 'no message'}`, again],
      };
    }
    case 'unconfirmed': {
      const { cause, intentAt, bodyHash, model } = outcome.evidence;
      const facts = [
        `cause ${cause}`,
        `intent at ${intentAt ?? 'unknown'}`,
        `model ${model ?? 'unknown'}`,
        `body ${bodyHash?.slice(0, 12) ?? 'unknown'}`,
      ];
      return { seen, notes: [`evidence: ${facts.join(', ')}`] };
    }
    case 'rejected':
    case 'content_unavailable':
    case 'task_unknown':
    case 'results_lost':
      return { seen, notes: [outcome.message] };
    case 'still_running':
    case 'cancelled':
      return { seen, notes: [] };
  }
}
