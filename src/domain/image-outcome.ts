import { billing, finishedState } from './billing';
import { type ImageOutcome } from './outcome';
import { rejected, unconfirmed } from './outcomes';
import { type ImageCallAnswer } from './paid-call';

/** The outcome of an image call; undefined for answers after which it may go on (nothing was accepted). */
export function imageOutcome(answer: ImageCallAnswer, creationKey: string): ImageOutcome | undefined {
  switch (answer.outcome) {
    case 'completed': {
      const { images, created, warnings, usage, estimate, mayBeOwed } = answer;
      return {
        outcome: 'completed',
        images,
        created,
        warnings,
        billing: billing(estimate, mayBeOwed === true ? 'needs_review' : finishedState(usage), usage),
      };
    }
    case 'results_lost': {
      const { images, created, reason, message, estimate, usage } = answer;
      return {
        outcome: 'results_lost',
        creationKey,
        images,
        created,
        reason,
        message,
        fetchable: answer.sealedLinks !== undefined,
        billing: billing(estimate, 'needs_review', usage),
      };
    }
    case 'rejected':
      return rejected(answer, creationKey, answer.sent ? 1 : 0);
    case 'unconfirmed':
      return unconfirmed(answer, creationKey);
    case 'not_sent':
    case 'refused_for_now':
    case 'pending':
      return undefined;
  }
}
