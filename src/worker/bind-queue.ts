import { Client } from '@temporalio/client';
import { type NativeConnection, Runtime, type WorkerOptions } from '@temporalio/worker';
import { accountsOfOthers, bindJournal, JournalBindingError } from '../activities/binding/bind-journal';
import {
  asFields,
  type PaidCallSeen,
  paidCallsOn,
  UnreadCallError,
} from '../activities/binding/paid-history';
import { openLog, recordOrRetry } from '../activities/key-log';
import { isUnseen, recordLostSend } from '../activities/unknown-sends';
import { type CreateJournal } from '../domain/journal';
import { isOpenAnswer, isPaid, type JournalKey } from '../domain/log-entries';
import { ACTIVITY, baseTaskQueue } from '../domain/names';
import { type CreatedVideo } from '../domain/paid-call';
import { createRedactor } from '../service/redact';
import { type MediaParts } from './media-parts';
import { lacksOfServer } from './temporal-server-version';

/** Number of executions of the queue whose histories are read, the newest first. */
const MAX_EXECUTIONS = 1_000;

/** A paid call that a workflow history contains and the journal lacks. */
export interface LostCall {
  /** The authorization of the call. */
  readonly creationKey: string;
  /** Names the activity in the log of the key. */
  readonly sender: string;
  /** The intent of its send, if its answer or its last heartbeat names one. */
  readonly announced: string | null;
  /** The workflow that made it; null for a standalone activity. */
  readonly workflowId: string | null;
  /** The run that made it. */
  readonly runId: string;
  /** The workflows above it. */
  readonly ancestors: readonly string[];
  /** The activity in that run. */
  readonly activityId: string;
  /** ISO 8601 time at which the server scheduled this attempt of the activity. */
  readonly attemptAt: string;
  /** The created video, if its history contains it. */
  readonly created?: CreatedVideo;
  /** What was bought. */
  readonly operation: 'create_video' | 'generate_image' | 'edit_image';
  /** Public model id. */
  readonly model: string;
}

/** The lost calls that a rebind finds before it changes the binding. */
export interface LostCalls {
  /** In the order in which they were found: the newest executions first. */
  readonly calls: readonly LostCall[];
  /** Most executions that are read: calls of older ones are not found. */
  readonly looked: number;
}

/**
 * Finds the paid calls that histories contain and the journal lacks, before a queue is bound to a journal that may lack
 * calls (another one, or one restored from a copy). Writes nothing.
 * @throws JournalBindingError when one of them cannot be read with the data converter of this client
 */
export async function findLostCalls(
  client: Client,
  taskQueue: string,
  namespace: string,
  journal: CreateJournal,
): Promise<LostCalls> {
  const seen = paidCallsOn(client, baseTaskQueue(taskQueue), (read) => read >= MAX_EXECUTIONS);
  try {
    return { calls: await lostAmong(seen, namespace, journal), looked: MAX_EXECUTIONS };
  } catch (error) {
    if (!(error instanceof UnreadCallError)) throw error;
    throw new JournalBindingError(unread(taskQueue, error));
  }
}

/** Returns the calls that a journal lacks. */
export async function lostAmong(
  calls: AsyncIterable<PaidCallSeen> | Iterable<PaidCallSeen>,
  namespace: string,
  journal: CreateJournal,
): Promise<readonly LostCall[]> {
  const lost: LostCall[] = [];
  for await (const seen of calls) {
    const { creationKey, sender, workflowId, runId, activityId, scheduledAt: attemptAt, answer } = seen;
    const created = answer?.['outcome'] === 'created' ? (answer as unknown as CreatedVideo) : undefined;
    const model = created?.video.model ?? modelOf(seen);
    const place = {
      creationKey,
      sender,
      announced: announcedBy(seen),
      workflowId,
      runId,
      ...ancestorsOf(seen),
      activityId,
      attemptAt,
    };
    const call = { ...place, operation: operationOf(seen), model, ...(created !== undefined && { created }) };
    if (!(await isKnown(journal, { namespace, creationKey }, call))) lost.push(call);
  }
  return lost;
}

function unread(taskQueue: string, error: UnreadCallError): string {
  return (
    `The task queue "${taskQueue}" was not rebound. ${redactor.text(error.message)} ` +
    'An id that nothing guards would be bought again. Rebind with a worker whose dataConverter reads these payloads (the codec with ' +
    'its keys, the drivers of external storage), or give this worker a task queue of its own (MEDIA_TASK_QUEUE).'
  );
}

/** The text is from a codec or driver of the user. */
const redactor = createRedactor([]);

/**
 * Writes the calls into the journal. A created video can be found again under its key. Every other call has an unknown
 * fate: nothing is sent under its key before a person has decided.
 */
export async function keepLostCalls(
  journal: CreateJournal,
  namespace: string,
  calls: readonly LostCall[],
): Promise<void> {
  for (const call of calls) {
    const { creationKey, created, attemptAt, ...rest } = call;
    const key = { namespace, creationKey };
    // Recorded for an earlier call of the same key.
    if (await isKnown(journal, key, call)) continue;
    const { durationSeconds = null, resolution = null, referenceMode = null } = created?.video ?? {};
    const before = await openLog(journal, key);
    const own = before.state.sends.findLast(({ sent }) => sent.sender === call.sender);
    if (created !== undefined && own !== undefined) {
      await recordOrRetry(journal, before, own.sent.nonce, created);
      continue;
    }
    const { log, nonce } = await recordLostSend(journal, before, {
      ...rest,
      attemptAt,
      account: created?.video.account ?? '',
      durationSeconds,
      resolution,
      referenceMode,
      // It is lost, so later requests cannot be compared: any request counts as the same one.
      fingerprint: null,
    });
    if (created !== undefined) await recordOrRetry(journal, log, nonce, created);
  }
}

/**
 * Whether a journal has what the call left, or what stopped it: a purchase, a send of unknown fate, its own send, or a
 * fence. An open send of another activity may have been refused since: an image activity then sends again; for a video,
 * its workflow schedules another create.
 */
async function isKnown(journal: CreateJournal, key: JournalKey, call: LostCall): Promise<boolean> {
  const log = await openLog(journal, key);
  const { state } = log;
  if (state.bought !== null || state.fenced.includes(call.sender)) return true;
  // A known purchase is never left to a decision.
  if (call.created !== undefined) return false;
  // Another send that waits or is in flight has its own fate, and does not replace a send with a name.
  if (call.announced !== null) return !isUnseen(log, call);
  if (state.unknown !== null) return true;
  const own = state.sends.findLast(({ sent }) => sent.sender === call.sender);
  if (own === undefined) return false;
  const isRefused = own.answer !== null && !isPaid(own.answer.answer) && !isOpenAnswer(own.answer.answer);
  return !isRefused || call.operation === 'create_video' || own.decision !== null;
}

/** The answer about a send of unknown fate names it, whichever activity made it. */
function announcedBy({ answer, announced }: PaidCallSeen): string | null {
  const sendId = asFields(answer?.['evidence'])?.['sendId'];
  return typeof sendId === 'string' ? sendId : announced;
}

function ancestorsOf({ input }: PaidCallSeen): Pick<LostCall, 'ancestors'> {
  const given: unknown = input?.['ancestors'];
  return {
    ancestors: Array.isArray(given) ? given.filter((id): id is string => typeof id === 'string') : [],
  };
}

function operationOf({ type, input }: PaidCallSeen): LostCall['operation'] {
  if (type === ACTIVITY.createVideo || type === ACTIVITY.createVideos) return 'create_video';
  const request = asFields(input?.['request']);
  return type === ACTIVITY.editImage || (request !== null && 'images' in request)
    ? 'edit_image'
    : 'generate_image';
}

function modelOf({ input }: PaidCallSeen): string {
  const model = asFields(input?.['request'])?.['model'];
  return typeof model === 'string' ? model : '';
}

/** `true` accepts the lost calls; a function receives them before anything is changed, and throws to refuse. */
export type Rebind = boolean | ((lost: LostCalls) => Promise<void>);

export interface QueueToBind {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly dataConverter: WorkerOptions['dataConverter'];
  readonly rebind: Rebind | undefined;
}

/**
 * Binds the queue of a worker to its journal before anything polls, and logs relevant facts about the server and other
 * workers of the queue. @throws JournalBindingError
 */
export async function bindQueue(queue: QueueToBind, parts: MediaParts): Promise<void> {
  const { connection, namespace, taskQueue, dataConverter } = queue;
  const { logger } = Runtime.instance();
  const client = new Client({
    connection,
    namespace,
    ...(dataConverter !== undefined && { dataConverter }),
  });
  const rebind = queue.rebind !== undefined && queue.rebind !== false;
  if (rebind) await keepLost(client, queue, parts.journal);
  const { accounts } = await bindJournal({
    client,
    taskQueue,
    journal: parts.journal,
    artifacts: parts.artifacts,
    accounts: parts.accounts,
    rebind,
  });
  const { serverVersion } = await connection.workflowService.getSystemInfo({});
  const lacks = lacksOfServer(serverVersion);
  if (lacks !== undefined) logger.warn(lacks);
  const unserved = accountsOfOthers(accounts, parts.accounts);
  if (unserved !== undefined) logger.warn(unserved);
}

/** Before the binding changes, copies the calls of other journals into this one, as far as histories contain them. */
async function keepLost(client: Client, queue: QueueToBind, journal: CreateJournal): Promise<void> {
  const { namespace, taskQueue, rebind } = queue;
  const lost = await findLostCalls(client, taskQueue, namespace, journal);
  if (typeof rebind === 'function') await rebind(lost);
  Runtime.instance().logger.warn('Rebinding: what was paid for under these ids was not in this journal', {
    guarded: [...new Set(lost.calls.map(({ creationKey }) => creationKey))],
    executionsLookedAt: lost.looked,
  });
  await keepLostCalls(journal, namespace, lost.calls);
}
