import { randomUUID } from 'node:crypto';
import { type Client, QueryNotRegisteredError, WorkflowNotFoundError } from '@temporalio/client';
import { isOpen } from '../domain/execution-status';
import { QUERY, UPDATE, WORKFLOW } from '../domain/names';
import { RECONCILE_TIMEOUTS } from '../domain/timeouts';
import { type ResolveUnconfirmedInput, type ResolveUnconfirmedResult } from '../domain/unconfirmed-decision';
import { type VideoState } from '../domain/video-state';
import { requireUnpaused } from './errors';

/** A decision about the call of unknown fate of one creation key, with who decided and why. */
export type DecisionInput = Omit<ResolveUnconfirmedInput, 'taskQueue'>;

/** Longer than the activity, which waits for a sender that may still be alive. In milliseconds. */
const RESOLVE_LIMIT_MS = RECONCILE_TIMEOUTS.settleMs + 60_000;

/** See `TemporalMediaClient.resolveUnconfirmed`. `owner` is the workflow that may wait for the decision. */
export async function resolveUnconfirmed(
  client: Client,
  taskQueue: string,
  input: DecisionInput,
  owner: string = input.creationKey,
): Promise<ResolveUnconfirmedResult> {
  if (await waitsForDecision(client, owner, input.creationKey)) {
    const { decision, taskId, by, reason } = input;
    const argument = { by, reason, ...(taskId !== undefined && { taskId }) };
    return client.workflow
      .getHandle(owner)
      .executeUpdate<ResolveUnconfirmedResult, [typeof argument]>(UPDATE[decision], { args: [argument] });
  }
  return client.workflow.execute<(input: ResolveUnconfirmedInput) => Promise<ResolveUnconfirmedResult>>(
    WORKFLOW.resolveUnconfirmed,
    {
      taskQueue,
      workflowId: `resolve-unconfirmed/${randomUUID()}`,
      // The client gives up after this: an abandoned authorisation must not be carried out weeks later.
      workflowExecutionTimeout: RESOLVE_LIMIT_MS,
      args: [input],
    },
  );
}

async function waitsForDecision(client: Client, workflowId: string, creationKey: string): Promise<boolean> {
  const handle = client.workflow.getHandle(workflowId);
  try {
    const { status } = await handle.describe();
    if (!isOpen(status.name)) return false;
    requireUnpaused(workflowId, status.name);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
  const state = await handle.query<VideoState>(QUERY.videoState).catch((error: unknown) => {
    // A workflow of another type does not have this query. Whether one that cannot answer now waits is unknown: a
    // decision that bypassed it would leave it waiting for ever.
    if (error instanceof QueryNotRegisteredError) return undefined;
    throw error;
  });
  return state?.phase === 'unconfirmed' && state.creationKey === creationKey;
}
