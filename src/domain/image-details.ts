import { detailsText, inCode } from './details-text';
import { type CallWait } from './call-wait';
import { type ImageOutcome } from './outcome';

/** The details panel of an image workflow in the UI; `outcome` is null while the call is under way (architecture: Images). */
export function imageDetails(
  creationKey: string | null,
  outcome: Pick<ImageOutcome, 'outcome' | 'billing'> | null,
  waiting: CallWait | null = null,
): string {
  const now = waiting === null ? 'Calling the service' : 'Waiting to call the service';
  return detailsText(outcome === null ? now : `Done: ${outcome.outcome}`, safeNow(outcome), [
    ['creation key', creationKey === null ? null : inCode(creationKey)],
    ['next call', waiting === null ? null : new Date(waiting.until).toISOString()],
    ['because', waiting === null ? null : inCode(waiting.why)],
  ]);
}

/** What is safe to do now; holds no prompt, key or address. */
function safeNow(outcome: Pick<ImageOutcome, 'outcome' | 'billing'> | null): string {
  switch (outcome?.outcome) {
    case undefined:
      return 'Wait. Do not make this call under another id: it may have been sent, and then it is paid.';
    case 'completed':
      return 'Nothing is left to do: the images are stored.';
    case 'results_lost':
      return 'The call is paid, but results could not be kept: the result says why, and whether the same id fetches them again. Another call costs again.';
    case 'unconfirmed':
      return 'Look into the records of the service with the evidence. Another call under another id may be paid twice.';
    case 'rejected':
      return 'Nothing was bought. Correct what the result names, then call again.';
    case 'cancelled':
      return outcome?.billing.state === 'none'
        ? 'Nothing was bought. The same id may be used again.'
        : 'It may have been sent before it was cancelled: check the bill. Under the same id nothing is bought twice.';
  }
}
