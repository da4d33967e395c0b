import { type Client } from '@temporalio/client';
import { ExternalStorageNotConfiguredError, ValueError } from '@temporalio/common';
import { CodecUnreachableError } from 'temporal-media/client';
import { decodePayloads } from 'temporal-media/internal/client/read-payloads';
import { throwBug } from 'temporal-media/internal/domain/bug';
import { WORKFLOW } from 'temporal-media/internal/domain/names';
import { type Connected } from './connect';

/** Time limit for the list and the history, in milliseconds. */
const READ_MS = 4_000;
/** Maximum wait for a worker, in milliseconds. */
const WORKER_MS = 5_000;

const TYPES = Object.values(WORKFLOW).map((type) => `'${type}'`);

/**
 * Checks, before anything is bought, that this client can read what the queue's workers return. Reads the queue's newest
 * result, or queries a worker if there is none yet. A failure for another reason is not reported: a storage that is away
 * may be back when the result is there, and one lost object must not prevent all purchases.
 * @throws ExternalStorageNotConfiguredError or ValueError if results cannot be read here
 */
export async function requireReadableResults(
  { client, media, taskQueue }: Pick<Connected, 'client' | 'media' | 'taskQueue'>,
  hasWorker: boolean,
): Promise<void> {
  try {
    if ((await readNewestResult(client, taskQueue)) || !hasWorker) return;
    await media.artifactStore({ timeoutMs: WORKER_MS });
  } catch (error) {
    const cause = unreadableCause(error);
    if (cause === undefined) throwBug(error);
    else if (!(cause instanceof CodecUnreachableError)) throw cause;
  }
}

/** Returns the reason that payloads cannot be read here. Undefined for any other error. */
export function unreadableCause(error: unknown): Error | undefined {
  // The SDK reports an unreadable reply as a failed call.
  return [error, (error as Error).cause].find(
    (one): one is Error =>
      one instanceof ExternalStorageNotConfiguredError ||
      one instanceof ValueError ||
      one instanceof CodecUnreachableError,
  );
}

/**
 * Reads the newest result of this package's workflows on a queue. Returns false if there is none.
 * @throws the error of a codec, storage or converter if it cannot be read
 */
export async function readNewestResult(client: Client, taskQueue: string): Promise<boolean> {
  const { namespace, loadedDataConverter } = client.options;
  const query = `TaskQueue = ${JSON.stringify(taskQueue)} AND ExecutionStatus = 'Completed' AND WorkflowType IN (${TYPES.join(', ')})`;
  return client.withDeadline(Date.now() + READ_MS, async () => {
    const { workflowService } = client;
    const { executions } = await workflowService.listWorkflowExecutions({ namespace, query, pageSize: 1 });
    const execution = executions?.[0]?.execution;
    if (execution == null) return false;
    const newest = { namespace, execution, maximumPageSize: 1 };
    const { history } = await workflowService.getWorkflowExecutionHistoryReverse(newest);
    const ended = history?.events?.[0]?.workflowExecutionCompletedEventAttributes;
    const context = { type: 'workflow', namespace, workflowId: execution.workflowId ?? '' } as const;
    const read = await decodePayloads(loadedDataConverter, ended?.result?.payloads ?? [], context);
    for (const payload of read) loadedDataConverter.payloadConverter.fromPayload(payload, context);
    return true;
  });
}
