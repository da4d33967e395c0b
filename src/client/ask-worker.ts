import { randomUUID } from 'node:crypto';
import { type Client } from '@temporalio/client';
import { type ArtifactStoreFacts, FIND_VIDEO_TASK_SHAPE, type FoundVideoTask } from '../domain/activities';
import { type CallWait } from '../domain/call-wait';
import { QUERY, WORKFLOW } from '../domain/names';
import { type ReviewJournalInput, type ReviewJournalPage } from '../domain/unconfirmed-decision';
import { STARTED_BY } from '../domain/version';
import { refuseInvalid } from './errors';
import {
  ARTIFACT_STORE_KEYS,
  type ArtifactStoreOptions,
  FIND_TASK_KEYS,
  type FindTaskOptions,
} from './options';

/** Longest wait for a worker, in milliseconds: a person waits for the answer. */
const WORKER_LIMIT_MS = 120_000;

/** Which part of the journal is read, and how many keys. */
export type ReviewInput = Omit<ReviewJournalInput, 'taskQueue'>;

/** See `TemporalMediaClient.reviewJournal`. */
export function fetchJournalPage(
  client: Client,
  taskQueue: string,
  input: ReviewInput,
  limitMs = WORKER_LIMIT_MS,
): Promise<ReviewJournalPage> {
  return ask(client, taskQueue, WORKFLOW.reviewJournal, 'review-journal', limitMs, [input]);
}

/** See `TemporalMediaClient.findTask`. */
export async function findTask(
  client: Client,
  taskQueue: string,
  taskId: string,
  options: FindTaskOptions,
): Promise<FoundVideoTask> {
  refuseInvalid(options, FIND_TASK_KEYS);
  const input = { taskId, ...(options.askService === true && { askService: true }) };
  refuseInvalid(input, FIND_VIDEO_TASK_SHAPE);
  const limitMs = options.timeoutMs ?? WORKER_LIMIT_MS;
  return ask(client, taskQueue, WORKFLOW.findVideoTask, 'find-video-task', limitMs, [input]);
}

/** See `TemporalMediaClient.artifactStore`. */
export async function fetchArtifactStore(
  client: Client,
  taskQueue: string,
  options: ArtifactStoreOptions,
): Promise<ArtifactStoreFacts> {
  refuseInvalid(options, ARTIFACT_STORE_KEYS);
  const limitMs = options.timeoutMs ?? WORKER_LIMIT_MS;
  return ask(client, taskQueue, WORKFLOW.artifactStore, 'artifact-store', limitMs, []);
}

/** Runs a short workflow that reads something on a worker. */
function ask<Answer>(
  client: Client,
  taskQueue: string,
  type: string,
  prefix: string,
  limitMs: number,
  args: readonly unknown[],
): Promise<Answer> {
  return client.workflow.execute(type, {
    taskQueue,
    workflowId: `${prefix}/${randomUUID()}`,
    workflowExecutionTimeout: limitMs,
    memo: STARTED_BY,
    args: [...args],
  }) as Promise<Answer>;
}

/** What the paid calls of a workflow wait for before they are sent. Rejects when no worker answers in time. */
export function callWaits(client: Client, workflowId: string, limitMs: number): Promise<readonly CallWait[]> {
  return client.withDeadline(Date.now() + limitMs, () =>
    client.workflow.getHandle(workflowId).query<readonly CallWait[]>(QUERY.waits),
  );
}
