import { type Client } from '@temporalio/client';

/** gRPC NOT_FOUND. */
const NOT_FOUND = 5;

/** Whether a call of the raw workflow service failed because the server does not have the object. */
export function isGrpcNotFound(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === NOT_FOUND;
}

/**
 * Yields the pages of a list of the raw workflow service. Unlike a client's list, it decodes no memo: another client's
 * codec may have written it.
 */
export async function* pagesOf<Page extends { readonly nextPageToken?: Uint8Array | null }>(
  namespace: string,
  list: (part: { readonly namespace: string; readonly nextPageToken?: Uint8Array }) => Promise<Page>,
): AsyncGenerator<Page> {
  let nextPageToken: Uint8Array | null | undefined;
  do {
    const page: Page = await list({ namespace, ...(nextPageToken && { nextPageToken }) });
    yield page;
    ({ nextPageToken } = page);
  } while (nextPageToken?.length);
}

/** A standalone activity, which no workflow has scheduled. The caller gave its id, like that of a workflow. */
interface StandaloneActivity {
  readonly activityId: string;
  readonly runId: string;
}

/** The server's description of one, undecoded. */
export type StandaloneDescription = Awaited<
  ReturnType<Client['workflowService']['describeActivityExecution']>
>;

/** gRPC UNIMPLEMENTED. */
const UNIMPLEMENTED = 12;

/** Standalone activities, newest first; none on a server that does not run them (before 1.32). */
export async function* standaloneActivities(
  { workflowService }: Pick<Client, 'workflowService'>,
  namespace: string,
  query: string,
): AsyncGenerator<StandaloneActivity> {
  const { namespaceInfo } = await workflowService.describeNamespace({ namespace });
  if (namespaceInfo?.capabilities?.standaloneActivities !== true) return;
  for await (const { executions } of pagesOf(namespace, (part) =>
    workflowService.listActivityExecutions({ ...part, query, pageSize: 100 }),
  ))
    for (const { activityId, runId } of executions ?? [])
      if (activityId && runId) yield { activityId, runId };
}

/**
 * Describes one with its payloads; undefined if the server does not have it.
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
    if (isGrpcNotFound(error) || (error as { code?: unknown }).code === UNIMPLEMENTED) return undefined;
    throw error;
  }
}
