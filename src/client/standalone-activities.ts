import { type Client } from '@temporalio/client';

/** An activity that no workflow has scheduled; its id is what a caller gave, as that of a workflow. */
export interface StandaloneActivity {
  readonly activityId: string;
  readonly runId: string;
}

/** What the server has of one, undecoded. */
export type StandaloneDescription = Awaited<
  ReturnType<Client['workflowService']['describeActivityExecution']>
>;

const UNIMPLEMENTED = 12;
const NOT_FOUND = 5;

const isCode = (error: unknown, code: number): boolean => (error as { code?: unknown }).code === code;

/** Activities without a workflow, the newest first; none on a server that does not run such activities (before 1.32). */
export async function* standaloneActivities(
  { workflowService }: Pick<Client, 'workflowService'>,
  namespace: string,
  query: string,
): AsyncGenerator<StandaloneActivity> {
  const { namespaceInfo } = await workflowService.describeNamespace({ namespace });
  if (namespaceInfo?.capabilities?.standaloneActivities !== true) return;
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await workflowService.listActivityExecutions({
      namespace,
      query,
      pageSize: 100,
      ...(nextPageToken !== undefined && { nextPageToken }),
    });
    for (const { activityId, runId } of page.executions ?? [])
      if (activityId && runId) yield { activityId, runId };
    nextPageToken = page.nextPageToken ?? undefined;
  } while (nextPageToken !== undefined && nextPageToken.length > 0);
}

/**
 * Describes one with its payloads; undefined where the server does not have it.
 * @param runId empty for the newest run of the id
 */
export async function describeStandalone(
  { workflowService }: Pick<Client, 'workflowService'>,
  namespace: string,
  { activityId, runId }: StandaloneActivity,
): Promise<StandaloneDescription | undefined> {
  try {
    return await workflowService.describeActivityExecution({
      namespace,
      activityId,
      runId,
      includeInput: true,
      includeOutcome: true,
      includeHeartbeatDetails: true,
    });
  } catch (error) {
    if (isCode(error, NOT_FOUND) || isCode(error, UNIMPLEMENTED)) return undefined;
    throw error;
  }
}
