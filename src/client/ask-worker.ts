import { randomUUID } from 'node:crypto';
import { type Client } from '@temporalio/client';
import { type ArtifactStoreFacts, FIND_VIDEO_TASK_SHAPE, type FoundVideoTask } from '../domain/activities';
import { otherwise, throwBug } from '../domain/bug';
import { type CreateJournal } from '../domain/journal';
import { purchaseOf } from '../domain/log-entries';
import { QUERY, STARTED_BY, WORKFLOW } from '../domain/names';
import { type KeyState, stateOf } from '../domain/paid-log';
import {
  type DecidedEntry,
  NO_SEND,
  type ReviewJournalInput,
  type ReviewJournalPage,
  type UnconfirmedEntry,
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

/** Maximum wait for a worker, in milliseconds. */
const WORKER_MS = 20_000;

/** A send under a creation key, and its workflow. */
export interface SentUnder {
  readonly taskId: string | null;
  /** Null if the send was made outside a workflow. */
  readonly workflowId: string | null;
  /** The key's log, if the journal is on this machine. */
  readonly log?: KeyState;
  /** The send that a worker reports as waiting for a decision or in flight. */
  readonly open?: UnconfirmedEntry;
}

/** Looks things up in the journal: directly if it is on this machine, or else through one of the queue's workers. */
export class JournalLookup {
  constructor(
    private readonly client: Client,
    private readonly local?: CreateJournal,
  ) {}

  /**
   * Finds a task by ID. `others` lists other accounts that have a task with this ID. Undefined if the task is unknown.
   */
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

  /** Asks a worker for the task, and with `askService` also the service. Undefined if no worker answers. */
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
   * Returns the send under a creation key and its workflow. The task ID is null while the create is unconfirmed.
   */
  async key(creationKey: string, taskQueue: string | undefined): Promise<SentUnder | undefined> {
    const local = await this.localKey(creationKey).catch(otherwise(undefined));
    if (local !== undefined || taskQueue === undefined) return local;
    try {
      const created = await fetchJournalPage(this.client, taskQueue, { list: 'created', creationKey });
      const [first] = created.created;
      if (first !== undefined) return { taskId: first.taskId, workflowId: first.workflowId };
      const open = await fetchJournalPage(this.client, taskQueue, { list: 'unconfirmed', creationKey });
      const [unknown] = open.unconfirmed;
      return unknown && { taskId: null, workflowId: unknown.workflowId, open: unknown };
    } catch (error) {
      throwBug(error);
      return undefined;
    }
  }

  /** Returns the decisions about a creation key's sends, oldest first. Undefined if no worker answers. */
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

  /**
   * Returns a key's task; null if it is unknown under this key. Another account may have a task with the same ID.
   */
  async taskOf(
    { taskId, creationKey }: Pick<DecidedEntry, 'taskId' | 'creationKey'>,
    taskQueue: string | undefined,
  ): Promise<VideoTask | null> {
    if (taskId === null) return null;
    const known = (await this.task(taskId, taskQueue))?.found;
    return known?.creationKey === creationKey ? known.video : null;
  }

  private async localKey(creationKey: string): Promise<SentUnder | undefined> {
    if (this.local === undefined) return undefined;
    const { namespace } = this.client.options;
    const log = stateOf(await this.local.read({ namespace, creationKey }));
    const { sends, bought } = log;
    const send = sends[bought ?? sends.length - 1];
    if (send === undefined) return undefined;
    const answer = purchaseOf(send);
    const taskId = answer?.outcome === 'created' ? answer.video.taskId : null;
    return { taskId, workflowId: send.sent.workflowId, log };
  }
}

/** Maximum wait for a worker if a person is waiting for the answer, in milliseconds. */
const WORKER_LIMIT_MS = 120_000;

/** Which part of the journal to read, and how many keys. */
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

/** Runs a short workflow that reads data on a worker. */
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

/** Returns the reasons a workflow's paid calls are waiting to be sent. Rejects if no worker answers in time. */
export function callWaits(client: Client, workflowId: string, limitMs: number): Promise<readonly CallWait[]> {
  return client.withDeadline(Date.now() + limitMs, () =>
    client.workflow.getHandle(workflowId).query<readonly CallWait[]>(QUERY.waits),
  );
}

/**
 * Returns the send that a decision applies to if the decision does not specify one. This is the unconfirmed send, or
 * else the send that was decided last, so that a command can be repeated.
 */
export async function sendToDecide(
  review: (input: ReviewInput) => Promise<ReviewJournalPage>,
  creationKey: string,
): Promise<string> {
  const [open] = (await review({ list: 'unconfirmed', creationKey })).unconfirmed;
  if (open !== undefined) return open.evidence.sendId ?? NO_SEND;
  return (await review({ list: 'decided', creationKey })).decided.at(-1)?.sendId ?? NO_SEND;
}
