import { workflowInfo } from '@temporalio/workflow';
import { type CreateOnceState } from '../domain/create-once';
import { givenKeyIssue, runKey } from '../domain/creation-key';
import { type Ancestry } from '../domain/paid-call';

/** A creation key, or the reason there is none. */
type OwnKey = { readonly key: string } | { readonly refused: string };

/**
 * Returns the caller's key, or one derived from this run if there is none. A missing key, null and an empty string mean
 * the same, because untyped callers use all three. Any other value that is not a string is rejected, because all such
 * callers would share one key.
 */
export function creationKey(given: unknown): OwnKey {
  if (given === undefined || given === null || given === '') return ownCreationKey(takeOrdinal());
  if (typeof given !== 'string') return { refused: 'creationKey must be a string. Nothing was sent.' };
  // `executeVideo` passes a key derived from the calling workflow to its child.
  const refused = givenKeyIssue(given, workflowInfo().parent?.workflowId);
  return refused === undefined ? { key: given } : { refused };
}

/**
 * Derives a key from the workflow ID, R and the ordinal (architecture: Create). R is the original run ID, which a reset
 * keeps and a fresh start or cron run renews. For a workflow retry, R is the first run ID, so that the retry adopts
 * what the first attempt bought. With a cron schedule or after a continue-as-new, the first run ID belongs to another
 * iteration, so the caller must provide a key.
 */
function ownCreationKey(ordinal: number): OwnKey {
  const info = workflowInfo();
  if (info.attempt === 1) return { key: runKey(info.workflowId, info.originalExecutionRunId, ordinal) };
  // Before the second attempt, only the first one ran. From the third attempt on, a retry chain cannot be distinguished
  // from one that began with a continue-as-new, and the wrong key would return another iteration's video.
  const retryOfTheFirstRun =
    info.attempt === 2 && info.continuedFromExecutionRunId === info.firstExecutionRunId;
  const cron = info.cronSchedule !== undefined && info.cronSchedule !== '';
  if (cron || !retryOfTheFirstRun) return { refused: KEY_REQUIRED };
  return { key: runKey(info.workflowId, info.firstExecutionRunId, ordinal) };
}

/**
 * Returns a run's initial state. An earlier run of this execution, which was reset or failed, may have bought something
 * under the same key. Only values, and not commands, may depend on this state, because a reset run replays the previous
 * run's commands.
 */
export function inThisRun(state: CreateOnceState): CreateOnceState {
  const { runId, originalExecutionRunId, attempt } = workflowInfo();
  return runId !== originalExecutionRunId || attempt > 1 ? { ...state, elsewhere: true } : state;
}

/**
 * Returns this workflow's ancestors, for a paid call's input. The ancestors may run for months after this workflow has
 * ended, and resetting one of them starts this workflow again. The journal therefore keeps the key until the server no
 * longer stores the ancestors.
 */
export function ancestry(): Ancestry {
  const { workflowId, namespace, parent, root } = workflowInfo();
  if (parent === undefined || parent.namespace !== namespace) return {};
  return {
    ancestors: [...new Set([parent.workflowId, root?.workflowId ?? workflowId])].filter(
      (id) => id !== workflowId,
    ),
  };
}

const KEY_REQUIRED =
  'No creation key can be derived for this run: it is a later retry, or it follows a cron schedule or a continue-as-new. Nothing was sent. Specify a creationKey, such as the ID of the row or order that it is for.';

/** One symbol for all copies of this package in a bundle. A workflow has its own globals, even in a shared context. */
const NEXT_ORDINAL = Symbol.for('temporal-media.next-ordinal');

/** Counts the paid calls of this workflow run. */
function takeOrdinal(): number {
  const counts = globalThis as { [NEXT_ORDINAL]?: number };
  const ordinal = counts[NEXT_ORDINAL] ?? 0;
  counts[NEXT_ORDINAL] = ordinal + 1;
  return ordinal;
}
