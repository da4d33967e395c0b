import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { isOpen } from '../domain/execution-status';
import { mapConcurrently } from '../domain/map-concurrently';
import { type CreatedEntry } from '../domain/unconfirmed-decision';
import { awaitVideoWorkflowId } from './resume-video';
import { lenientClient } from './lenient-client';

/** A paid task that no workflow fetches: its workflow was closed from outside before it could report the task. */
export interface Orphan extends CreatedEntry {
  /** Temporal's close status of its workflow, or `NOT_FOUND` when the server no longer has it. */
  readonly endedAs: string;
}

/** Close statuses of a workflow that has reported the outcome of its task or handed it over. */
const REPORTED: ReadonlySet<string> = new Set(['COMPLETED', 'CONTINUED_AS_NEW']);

const isCaredFor = (status: string): boolean => isOpen(status) || REPORTED.has(status);

const AT_ONCE = 8;

/**
 * Returns the orphans among these tasks.
 * @param keptSince a task that is older is not an orphan when the server no longer has its workflow
 */
export async function orphansAmong(
  client: Client,
  entries: readonly CreatedEntry[],
  keptSince: Date,
): Promise<readonly Orphan[]> {
  const found: Orphan[] = [];
  await mapConcurrently(entries, AT_ONCE, async (entry) => {
    const endedAs = await endOf(client, entry, keptSince);
    if (endedAs !== undefined) found.push({ ...entry, endedAs });
  });
  return found.sort((a, b) => (a.createdAt ?? '').localeCompare(b.createdAt ?? ''));
}

/** How the workflow of an orphan ended; undefined when the task is not an orphan. */
async function endOf(
  client: Client,
  { workflowId, taskId, account, createdAt }: CreatedEntry,
  keptSince: Date,
): Promise<string | undefined> {
  const status = workflowId === null ? undefined : await statusOf(client, workflowId);
  if (status !== undefined && isCaredFor(status)) return undefined;
  // A task from before the server's retention period may have ended well.
  if (status === undefined && (createdAt === null || new Date(createdAt) < keptSince)) return undefined;
  const later = await statusOf(client, awaitVideoWorkflowId(account, taskId));
  if (later !== undefined && isCaredFor(later)) return undefined;
  return status ?? 'NOT_FOUND';
}

async function statusOf(client: Client, workflowId: string): Promise<string | undefined> {
  try {
    return (await lenientClient(client).getHandle(workflowId).describe()).status.name;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}
