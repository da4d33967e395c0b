import { type ImageOutcome, type VideoOutcome } from '../domain/outcome';
import { type VideoTask } from '../domain/video-task';

/**
 * Whether a closed workflow of this outcome may be started again under its id: it left nothing bought behind, or the
 * journal decides. `if_decided`: only once somebody has decided about it.
 * @param again a person wants a refused request sent again
 */
export function startAgain(
  outcome: VideoOutcome | ImageOutcome,
  again: boolean,
): 'yes' | 'no' | 'if_decided' {
  switch (outcome.outcome) {
    // A task that exists is adopted from the journal; it is not bought again.
    case 'still_running':
    case 'cancelled':
      return 'yes';
    case 'unconfirmed':
      // The journal may know by now what no worker could say then; it sends only where it proves that nothing was sent.
      // Of any other a worker without a journal would send again, and it knows of no decision.
      return JOURNAL_MAY_KNOW.has(outcome.evidence.cause) ? 'yes' : 'if_decided';
    case 'results_lost':
      // It is paid: what is fetched again is not bought again.
      return outcome.fetchable ? 'yes' : 'if_decided';
    case 'rejected':
      return !again && (outcome.reason === 'invalid_request' || outcome.reason === 'moderation')
        ? 'no'
        : 'yes';
    default:
      return 'no';
  }
}

/** Whether a closed workflow was refused: the journal then lets the corrected request go on, or says what stands in its way. */
export function wasRefused(outcome: VideoOutcome | ImageOutcome): boolean {
  return outcome.outcome === 'rejected' && outcome.reason !== 'declared_lost';
}

/** Causes of `unconfirmed` behind which the journal may hold an outcome: a worker was away or died. */
const JOURNAL_MAY_KNOW: ReadonlySet<string> = new Set([
  'worker_lost',
  'activity_failed',
  'no_answer_in_time',
  'reconcile_failed',
  'no_outcome_recorded',
  // Within its window the key finds out, once the reason of the refusal is mended.
  'same_key_refused',
]);

/** The task of an outcome after which waiting or fetching can go on. */
export function unfinishedVideo(outcome: VideoOutcome): VideoTask | null {
  switch (outcome.outcome) {
    case 'still_running':
    case 'content_unavailable':
    case 'task_unknown':
    case 'cancelled':
      return outcome.video;
    default:
      return null;
  }
}
