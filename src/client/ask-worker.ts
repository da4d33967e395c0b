import { randomUUID } from 'node:crypto';
import { type Client } from '@temporalio/client';
import { type ArtifactStoreFacts, FIND_VIDEO_TASK_SHAPE, type FoundVideoTask } from '../domain/activities';
import { otherwise, throwBug } from '../domain/bug';
import { type CreateJournal } from '../domain/journal';
import { purchaseOf } from '../domain/log-entries';
import { QUERY, STARTED_BY, WORKFLOW } from '../domain/names';
import { stateOf } from '../domain/paid-log';
import {
  type DecidedEntry,
  NO_SEND,
  type ReviewJournalInput,
  type ReviewJournalPage,
} from '../domain/unconfirmed-decision';
import { type CallWait } from '../domain/video-state';
import { type VideoTask } from '../domain/video-task';
import { refuseInvalid } from './errors';
import {
  ARTIFACT_STORE_KEYS,
  type ArtifactStoreOptions,
  FIND_TASK_KEYS,
  type FindTaskOptions,
} from './options';

/** Longest wait for a worker, in milliseconds. */
const WORKER_MS = 20_000;

/** A send under a creation key. */
interface SentUnder {
  readonly taskId: string | null;
  /** Null if it is found by its task, or was sent outside of a workflow. */
  readonly workflowId: string | null;
}

/** Reads the journal on this machine if it is here, else through a worker of a queue. */
export class JournalLookup {
  constructor(
    private readonly client: Client,
    private readonly local?: CreateJournal,
  ) {}

  /** Finds a task by its id; `others` are further accounts that have had a task of this id. Undefined if it is unknown. */
  async task(
    taskId: string,
    taskQueue: string | undefined,
  ): Promise<{ readonly found: FoundVideoTask; readonly others: readonly string[] } | undefined> {
    const [entry, ...others] = (await this.local?.findTask(taskId).catch(otherwise(undefined))) ?? [];
    if (entry !== undefined) {
      const { video, creationKey, workflowId, runId } = entry;
      return {
        found: { video: { ...video, source: 'journal' }, creationKey, workflowId, runId },
        others: others.map((other) => other.video.account),
      };
    }
    const found = await this.ask(taskId, taskQueue, false);
    return found === undefined || found.creationKey === null ? undefined : { found, others: [] };
  }

  /** Queries a worker, and with `askService` the service; undefined if none answers. */
  async ask(
    taskId: string,
    taskQueue: string | undefined,
    askService: boolean,
  ): Promise<FoundVideoTask | undefined> {
    if (taskQueue === undefined) return undefined;
    const options = { askService, timeoutMs: WORKER_MS };
    return findTask(this.client, taskQueue, taskId, options).catch(otherwise(undefined));
  }

  /**
   * Returns what was sent under a creation key, and by which workflow. The task id is null while the fate of the create
   * is unknown.
   */
  async key(creationKey: string, taskQueue: string | undefined): Promise<SentUnder | undefined> {
    const local = await this.localKey(creationKey).catch(otherwise(undefined));
    if (local !== undefined || taskQueue === undefined) return local;
    try {
      const created = await fetchJournalPage(this.client, taskQueue, { list: 'created', creationKey });
      const [first] = created.created;
      if (first !== undefined) return { taskId: first.taskId, workflowId: null };
      const open = await fetchJournalPage(this.client, taskQueue, { list: 'unconfirmed', creationKey });
      const [unknown] = open.unconfirmed;
      return unknown && { taskId: null, workflowId: unknown.workflowId };
    } catch (error) {
      throwBug(error);
      return undefined;
    }
  }

  /** Returns the decisions about the sends of a creation key, oldest first; undefined if no worker answers. */
  async decisions(
    creationKey: string,
    taskQueue: string | undefined,
  ): Promise<readonly DecidedEntry[] | undefined> {
    if (taskQueue === undefined) return undefined;
    return fetchJournalPage(this.client, taskQueue, { list: 'decided', creationKey }, WORKER_MS).then(
      ({ decided }) => decided,
      otherwise(undefined),
    );
  }

  /** Returns the task that a person has adopted; null if it is unknown under this key: another account may have its id. */
  async adopted(
    { taskId, creationKey }: DecidedEntry,
    taskQueue: string | undefined,
  ): Promise<VideoTask | null> {
    if (taskId === null) return null;
    const known = (await this.task(taskId, taskQueue))?.found;
    return known?.creationKey === creationKey ? known.video : null;
  }

  private async localKey(creationKey: string): Promise<SentUnder | undefined> {
    if (this.local === undefined) return undefined;
    const { namespace } = this.client.options;
    const { sends, bought } = stateOf(await this.local.read({ namespace, creationKey }));
    const send = sends[bought ?? sends.length - 1];
    if (send === undefined) return undefined;
    const answer = purchaseOf(send);
    const taskId = answer?.outcome === 'created' ? answer.video.taskId : null;
    return { taskId, workflowId: send.sent.workflowId };
  }
}

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

/** What the paid calls of a workflow wait for before they are sent. Rejects if no worker answers in time. */
export function callWaits(client: Client, workflowId: string, limitMs: number): Promise<readonly CallWait[]> {
  return client.withDeadline(Date.now() + limitMs, () =>
    client.workflow.getHandle(workflowId).query<readonly CallWait[]>(QUERY.waits),
  );
}

/**
 * The send that a decision under this key is about where it names none: the one of unknown fate, else the one that was
 * decided last, so that the same command may be repeated.
 */
export async function sendToDecide(
  review: (input: ReviewInput) => Promise<ReviewJournalPage>,
  creationKey: string,
): Promise<string> {
  const [open] = (await review({ list: 'unconfirmed', creationKey })).unconfirmed;
  if (open !== undefined) return open.evidence.sendId ?? NO_SEND;
  return (await review({ list: 'decided', creationKey })).decided.at(-1)?.sendId ?? NO_SEND;
}
