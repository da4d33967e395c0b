import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { isOpen } from '../domain/execution-status';
import { mapConcurrently } from '../domain/map-concurrently';
import { type CreatedEntry } from '../domain/unconfirmed-decision';
import { awaitVideoWorkflowId } from './started';
import { lenientClient } from './lenient-client';

/** A paid task that nobody fetches any more: its workflow was closed from outside, before it could say so. */
export interface Orphan extends CreatedEntry {
  /** Temporal's word for how its workflow ended, or `NOT_FOUND` when the server no longer has it. */
  readonly endedAs: string;
}

/** Ends by which a workflow has told what became of its task, or has handed it on. */
const REPORTED: ReadonlySet<string> = new Set(['COMPLETED', 'CONTINUED_AS_NEW']);

const isCaredFor = (status: string): boolean => isOpen(status) || REPORTED.has(status);

const AT_ONCE = 8;

/** Which of these tasks are orphans. `youngestLost`: an older one whose workflow the server has forgotten is none. */
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

/** How its workflow ended, when nobody looks after the task; undefined otherwise. */
async function endOf(
  client: Client,
  { workflowId, taskId, account, createdAt }: CreatedEntry,
  keptSince: Date,
): Promise<string | undefined> {
  const status = workflowId === null ? undefined : await statusOf(client, workflowId);
  if (status !== undefined && isCaredFor(status)) return undefined;
  // What is older than the server keeps histories may have ended well: nothing says otherwise.
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
