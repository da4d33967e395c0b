import { type ImageOutcome, type VideoOutcome } from '../domain/outcome';

/**
 * Whether a closed workflow with this outcome may be started again under its id: it left no purchase behind, or the
 * journal decides. `if_decided`: only after a person has decided about the call.
 * @param again whether to send a refused request again
 */
export function startAgain(
  outcome: VideoOutcome | ImageOutcome,
  again: boolean,
): 'yes' | 'no' | 'if_decided' {
  switch (outcome.outcome) {
    // An existing task is adopted from the journal and not bought again.
    case 'still_running':
    case 'cancelled':
      return 'yes';
    case 'unconfirmed':
      // The journal may have the outcome by now; a worker sends only where the journal proves that nothing was sent.
      // For other causes a worker without a journal would send again without knowing of a decision.
      return JOURNAL_MAY_KNOW.has(outcome.evidence.cause) ? 'yes' : 'if_decided';
    case 'results_lost':
      // The call is paid; fetching its results again buys nothing.
      return outcome.fetchable ? 'yes' : 'if_decided';
    case 'rejected':
      return !again && (outcome.reason === 'invalid_request' || outcome.reason === 'moderation')
        ? 'no'
        : 'yes';
    default:
      return 'no';
  }
}

/** Whether a closed workflow was refused: the journal then allows the corrected request or gives a reason not to. */
export function wasRefused(outcome: VideoOutcome | ImageOutcome): boolean {
  return outcome.outcome === 'rejected' && outcome.reason !== 'declared_lost';
}

/** Causes of `unconfirmed` for which the journal may hold an outcome: a worker was away or died. */
const JOURNAL_MAY_KNOW: ReadonlySet<string> = new Set([
  'worker_lost',
  'activity_failed',
  'no_answer_in_time',
  'reconcile_failed',
  'no_outcome_recorded',
  // Within the key's window another send finds the outcome, once the cause of the refusal is fixed.
  'same_key_refused',
]);
