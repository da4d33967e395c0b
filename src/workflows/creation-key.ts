import { workflowInfo } from '@temporalio/workflow';
import { givenKeyIssue, runKey } from '../domain/creation-key';

/** The key of a create whose caller gave none, or why there can be none. */
export type OwnKey = { readonly key: string } | { readonly refused: string };

/**
 * The caller's key, else a key of this run. Absent, null and empty are the same, because untyped callers send them for
 * the same thing; anything else that is no text is refused, or all such callers would share one key.
 */
export function creationKey(given: unknown): OwnKey {
  if (given === undefined || given === null || given === '') return ownCreationKey(takeOrdinal());
  if (typeof given !== 'string') return { refused: 'creationKey must be a text. Nothing was sent.' };
  // `executeVideo` hands a key of the calling workflow on to its child.
  const refused = givenKeyIssue(given, workflowInfo().parent?.workflowId);
  return refused === undefined ? { key: given } : { refused };
}

/**
 * workflowId + R + ordinal (architecture: Create). R is the original run id, which a reset keeps and a fresh start or cron
 * run renews; for a workflow retry it is the first run id, so that the retry adopts what the first attempt bought.
 * Behind a cron schedule or a continue-as-new the first run id is that of another iteration: then a key must be given.
 */
function ownCreationKey(ordinal: number): OwnKey {
  const info = workflowInfo();
  if (info.attempt === 1) return { key: runKey(info.workflowId, info.originalExecutionRunId, ordinal) };
  // The second attempt knows that nothing but the first ran before it. From the third on, a retry chain and one that
  // began with a continue-as-new look alike, and the wrong one would hand out another iteration's video.
  const retryOfTheFirstRun =
    info.attempt === 2 && info.continuedFromExecutionRunId === info.firstExecutionRunId;
  const cron = info.cronSchedule !== undefined && info.cronSchedule !== '';
  if (cron || !retryOfTheFirstRun) return { refused: KEY_REQUIRED };
  return { key: runKey(info.workflowId, info.firstExecutionRunId, ordinal) };
}

const KEY_REQUIRED =
  'No creation key can be derived for this run: it is a later retry, or one behind a cron schedule or a continue-as-new. Nothing was sent. Give a creationKey, such as the id of the row or order it serves.';

/** One name for all copies of this package in a bundle; the globals of a workflow are its own, also in a shared context. */
const NEXT_ORDINAL = Symbol.for('temporal-media.next-ordinal');

/** Counts the paid calls of this workflow run. */
function takeOrdinal(): number {
  const counts = globalThis as { [NEXT_ORDINAL]?: number };
  const ordinal = counts[NEXT_ORDINAL] ?? 0;
  counts[NEXT_ORDINAL] = ordinal + 1;
  return ordinal;
}
