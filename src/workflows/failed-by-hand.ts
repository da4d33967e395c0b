import { ActivityFailure, isCancellation, sleep } from '@temporalio/workflow';

/** Before it is begun anew. */
const AGAIN_MS = 10_000;

/**
 * Waits a moment after an activity that Temporal tries until it works has failed all the same: somebody has failed it by
 * hand. It is to be begun anew, for nothing that was bought may be forgotten. To be called where it is caught: one
 * promise more around an activity, and commands of older histories come in another order.
 * @throws the error when it is another one, or says that the workflow is cancelled
 */
export async function failedByHand(error: unknown): Promise<void> {
  if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
  await sleep(AGAIN_MS);
}

/** For work that nobody waits for: a workflow that is cancelled ends without it. */
export function unlessCancelled(error: unknown): void {
  if (!isCancellation(error)) throw error;
}
