import { type ImageOutcome, type VideoOutcome } from './outcome';
import { type DecidedEntry } from './unconfirmed-decision';

/** What a call that has ended still allows. */

/**
 * Whether a closed call with this outcome may start again under its id, because it bought nothing or because the
 * journal decides. `if_decided` means that it may only after a person has decided about the call.
 * @param again whether to send a refused request again
 */
export function startAgain(
  outcome: VideoOutcome | ImageOutcome,
  again: boolean,
): 'yes' | 'no' | 'if_decided' {
  switch (outcome.outcome) {
    // The new run adopts an existing task from the journal instead of buying again.
    case 'still_running':
    case 'cancelled':
      return 'yes';
    case 'unconfirmed':
      // The journal may have the outcome by now, and a worker sends only if the journal proves that nothing was sent.
      // Other causes need a decision first, because a worker without the journal would send again without knowing about
      // a decision.
      return JOURNAL_MAY_KNOW.has(outcome.evidence.cause) ? 'yes' : 'if_decided';
    case 'results_lost':
      // The call was already paid for. Fetching its results again buys nothing.
      return outcome.fetchable ? 'yes' : 'if_decided';
    case 'rejected':
      return !again && (outcome.reason === 'invalid_request' || outcome.reason === 'moderation')
        ? 'no'
        : 'yes';
    default:
      return 'no';
  }
}

/** Whether a closed call was refused. If so, the journal allows a corrected request or gives a reason not to. */
export function wasRefused(outcome: VideoOutcome | ImageOutcome): boolean {
  return outcome.outcome === 'rejected' && outcome.reason !== 'declared_lost';
}

/** Causes of `unconfirmed` for which the journal may have an outcome, because a worker was unavailable or died. */
const JOURNAL_MAY_KNOW: ReadonlySet<string> = new Set([
  'worker_lost',
  'activity_failed',
  'no_answer_in_time',
  'reconcile_failed',
  'no_outcome_recorded',
  // Once the cause of the refusal is fixed, another send within the key's window finds the outcome.
  'same_key_refused',
]);

/** Returns the decision about the send that the outcome leaves open, or undefined if nobody has decided yet. */
export function decisionInForce(
  outcome: VideoOutcome | ImageOutcome | null,
  decisions: readonly DecidedEntry[],
): DecidedEntry | undefined {
  if (outcome === null) return decisions.at(-1);
  // Starting the same id again fetches lost results or sends an authorized call, so the outcome's advice still applies.
  if (outcome.outcome === 'results_lost')
    return decisions.at(-1)?.decision === 'declareLost' ? decisions.at(-1) : undefined;
  if (outcome.outcome !== 'unconfirmed') return undefined;
  return decisions.findLast(({ sendId }) => sendId === outcome.evidence.sendId);
}
