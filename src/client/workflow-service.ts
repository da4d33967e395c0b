import { type Client } from '@temporalio/client';

/** The gRPC status NOT_FOUND. */
const NOT_FOUND = 5;

/** Whether a call to the raw workflow service failed because the requested object does not exist. */
export function isGrpcNotFound(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === NOT_FOUND;
}

/**
 * Yields the pages of a list from the raw workflow service. Unlike a client's list, this does not decode memos, because
 * another client's codec may have encoded them.
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

/** An activity without a workflow. Its ID was chosen by the caller, like a workflow ID. */
export interface StandaloneActivity {
  readonly activityId: string;
  readonly runId: string;
}

/** The server's undecoded description of a standalone activity. */
export type StandaloneDescription = Awaited<
  ReturnType<Client['workflowService']['describeActivityExecution']>
>;

/** The gRPC status PERMISSION_DENIED. */
const PERMISSION_DENIED = 7;

/** For a caller that may not describe activities. It then knows workflows only, as on an older server. */
export function unlessDenied(error: unknown): undefined {
  if ((error as { readonly code?: unknown }).code !== PERMISSION_DENIED) throw error;
  return undefined;
}

/** The gRPC status UNIMPLEMENTED. */
const UNIMPLEMENTED = 12;

/** Whether the server runs activities without a workflow (since 1.32). */
export async function runsStandalone(
  { workflowService }: Pick<Client, 'workflowService'>,
  namespace: string,
): Promise<boolean> {
  const { namespaceInfo } = await workflowService.describeNamespace({ namespace });
  return namespaceInfo?.capabilities?.standaloneActivities === true;
}

/** Yields standalone activities, newest first. Yields nothing on servers that do not support them (before 1.32). */
export async function* standaloneActivities(
  { workflowService }: Pick<Client, 'workflowService'>,
  namespace: string,
  query: string,
): AsyncGenerator<StandaloneActivity> {
  if (!(await runsStandalone({ workflowService }, namespace))) return;
  for await (const { executions } of pagesOf(namespace, (part) =>
    workflowService.listActivityExecutions({ ...part, query, pageSize: 100 }),
  ))
    for (const { activityId, runId } of executions ?? [])
      if (activityId && runId) yield { activityId, runId };
}

/**
 * Describes a standalone activity with its payloads. Returns undefined if the server does not have it.
 * @param runId empty for the ID's newest run
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
      includeLastFailure: true,
    });
  } catch (error) {
    if (isGrpcNotFound(error) || (error as { code?: unknown }).code === UNIMPLEMENTED) return undefined;
    throw error;
  }
}
