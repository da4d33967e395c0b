import { randomUUID } from 'node:crypto';
import { type Client, QueryNotRegisteredError } from '@temporalio/client';
import { isOpen, QUERY, STARTED_BY, UPDATE, WORKFLOW } from '../domain/names';
import { RECONCILE_TIMEOUTS } from '../domain/timeouts';
import {
  type ResolveUnconfirmedInput,
  type ResolveUnconfirmedResult,
  type ReviewJournalPage,
} from '../domain/unconfirmed-decision';
import { type VideoState } from '../domain/video-state';
import { fetchJournalPage, type ReviewInput, sendToDecide } from './ask-worker';
import { describeWorkflow, requireUnpaused } from './workflow-handle';

/**
 * A decision about a creation key's unconfirmed call, with its author and reason.
 * @default sendId the currently unconfirmed send. Pass the send whose evidence a person has read
 */
export type DecisionInput = Omit<ResolveUnconfirmedInput, 'taskQueue' | 'sendId'> &
  Partial<Pick<ResolveUnconfirmedInput, 'sendId'>>;

/** Time limit in milliseconds. It is longer than the activity, which waits for a sender that may still be running. */
const RESOLVE_LIMIT_MS = RECONCILE_TIMEOUTS.settleMs + 60_000;

/** See `TemporalMediaClient.resolveUnconfirmed`. `owner` is the workflow that may wait for the decision. */
export async function deliverDecision(
  client: Client,
  taskQueue: string,
  input: DecisionInput,
  owner: string = input.creationKey,
): Promise<ResolveUnconfirmedResult> {
  const waiting = await waitsForDecision(client, owner, input.creationKey);
  const review = (asked: ReviewInput): Promise<ReviewJournalPage> =>
    fetchJournalPage(client, taskQueue, asked);
  const sendId = input.sendId ?? waiting?.evidence?.sendId ?? (await sendToDecide(review, input.creationKey));
  if (waiting !== undefined) {
    const { decision, taskId, by, reason } = input;
    const argument = { sendId, by, reason, ...(taskId !== undefined && { taskId }) };
    return client.workflow
      .getHandle(owner)
      .executeUpdate<ResolveUnconfirmedResult, [typeof argument]>(UPDATE[decision], { args: [argument] });
  }
  return client.workflow.execute<(input: ResolveUnconfirmedInput) => Promise<ResolveUnconfirmedResult>>(
    WORKFLOW.resolveUnconfirmed,
    {
      taskQueue,
      workflowId: `resolve-unconfirmed/${randomUUID()}`,
      memo: STARTED_BY,
      // The client stops waiting after this time, and an abandoned decision must not be applied weeks later.
      workflowExecutionTimeout: RESOLVE_LIMIT_MS,
      args: [{ ...input, sendId }],
    },
  );
}

/** Returns the state of the workflow that waits for the decision; undefined if none does. */
async function waitsForDecision(
  client: Client,
  workflowId: string,
  creationKey: string,
): Promise<VideoState | undefined> {
  const status = (await describeWorkflow(client.workflow, workflowId))?.status.name;
  if (status === undefined || !isOpen(status)) return undefined;
  requireUnpaused(workflowId, status);
  const handle = client.workflow.getHandle(workflowId);
  const state = await handle.query<VideoState>(QUERY.videoState).catch((error: unknown) => {
    // Workflows of other types do not have this query. A workflow that cannot answer right now may be waiting for the
    // decision. A decision that bypassed it would leave it waiting indefinitely.
    if (error instanceof QueryNotRegisteredError) return undefined;
    throw error;
  });
  return state?.phase === 'unconfirmed' && state.creationKey === creationKey ? state : undefined;
}
