import { Client } from '@temporalio/client';
import { type NativeConnection, Runtime, type WorkerOptions } from '@temporalio/worker';
import { accountsOfOthers, bindJournal, JournalBindingError } from '../activities/binding/bind-journal';
import {
  asFields,
  type PaidCallSeen,
  paidCallsOn,
  unrecordedIn,
  UnreadCallError,
} from '../activities/binding/paid-history';
import { openLog, recordOrRetry } from '../activities/key-log';
import { isUnseen, recordLostSend } from '../activities/unknown-sends';
import { type CreateJournal } from '../domain/journal';
import { given } from '../domain/json';
import { isOpenAnswer, isPaid, type JournalKey } from '../domain/log-entries';
import { ACTIVITY, baseTaskQueue } from '../domain/names';
import { type CreatedVideo } from '../domain/paid-call';
import { createRedactor } from '../service/redact';
import { type MediaParts } from './media-parts';
import { lacksOfServer } from './temporal-server-version';

/** Maximum number of the queue's executions to search, newest first. */
const MAX_EXECUTIONS = 1_000;

/** A paid call that is in a workflow history but not in the journal. */
export interface LostCall {
  /** The call's creation key. */
  readonly creationKey: string;
  /** The activity's name in the key's log. */
  readonly sender: string;
  /** The intent that was recorded for its send, if the answer or the last heartbeat contains one. */
  readonly announced: string | null;
  /** The workflow that made the call; null for a standalone activity. */
  readonly workflowId: string | null;
  /** The run that made the call. */
  readonly runId: string;
  /** IDs of the workflow's ancestors. */
  readonly ancestors: readonly string[];
  /** ID of the activity in that run. */
  readonly activityId: string;
  /** Time when the server scheduled this activity attempt, ISO 8601. */
  readonly attemptAt: string;
  /** The created video, if the history contains it. */
  readonly created?: CreatedVideo;
  /** What was bought. */
  readonly operation: 'create_video' | 'generate_image' | 'edit_image';
  /** Public model ID. */
  readonly model: string;
}

/** The lost calls that a rebind finds before it changes the binding. */
export interface LostCalls {
  /** Newest executions first. */
  readonly calls: readonly LostCall[];
  /** Maximum number of executions that were searched. Calls in older executions are not found. */
  readonly looked: number;
}

/**
 * Finds paid calls that are in histories but missing from the journal. Used before a queue is bound to another journal
 * or to a restored one. Writes nothing.
 * @throws JournalBindingError if a call cannot be read with this client's data converter
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

/** Returns the calls that are missing from a journal. */
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
    const call = { ...place, operation: operationOf(seen), model, ...given({ created }) };
    if (!(await isKnown(journal, { namespace, creationKey }, call))) lost.push(call);
  }
  return lost;
}

function unread(taskQueue: string, error: UnreadCallError): string {
  return (
    `The task queue "${taskQueue}" was not rebound. ${redactor.text(error.message)} ` +
    'Unread calls could be bought a second time. Rebind with a worker whose dataConverter can read these payloads (the codec with ' +
    'its keys, the external storage drivers), or give this worker a separate task queue (MEDIA_TASK_QUEUE).'
  );
}

/** Redacts error messages that the user's codec or storage driver throws. */
const redactor = createRedactor([]);

/**
 * Writes the calls to the journal. A created video can then be found under its key. Every other call becomes
 * unconfirmed, so nothing is sent under its key until a person has decided.
 */
export async function keepLostCalls(
  journal: CreateJournal,
  namespace: string,
  calls: readonly LostCall[],
): Promise<void> {
  for (const call of calls) {
    const { creationKey, created, attemptAt, ...rest } = call;
    const key = { namespace, creationKey };
    // An earlier call with the same key may have been recorded.
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
      // The request is lost, so later requests cannot be compared with it. Any later request is treated as the same
      // request.
      fingerprint: null,
    });
    if (created !== undefined) await recordOrRetry(journal, log, nonce, created);
  }
}

/**
 * Whether the journal already covers the call: it contains a purchase, an unconfirmed send, the call's own send, or a
 * fence. Another activity's open send does not count, because it may have been refused since then. After a refusal, an
 * image activity sends again, and a video's workflow schedules another create.
 */
async function isKnown(journal: CreateJournal, key: JournalKey, call: LostCall): Promise<boolean> {
  const log = await openLog(journal, key);
  const { state } = log;
  if (state.bought !== null || state.fenced.includes(call.sender)) return true;
  // A known purchase never needs a decision.
  if (call.created !== undefined) return false;
  // If the call identifies its send, that send must be in the journal. Another waiting or running send does not replace
  // it.
  if (call.announced !== null) return !isUnseen(log, call);
  if (state.unknown !== null) return true;
  const own = state.sends.findLast(({ sent }) => sent.sender === call.sender);
  if (own === undefined) return false;
  const isRefused = own.answer !== null && !isPaid(own.answer.answer) && !isOpenAnswer(own.answer.answer);
  return !isRefused || call.operation === 'create_video' || own.decision !== null;
}

/**
 * Returns the intent of the call's send. An unconfirmed answer identifies the send, no matter which activity made it.
 */
function announcedBy({ answer, announced }: PaidCallSeen): string | null {
  const sendId = unrecordedIn(answer)?.['nonce'] ?? asFields(answer?.['evidence'])?.['sendId'];
  return typeof sendId === 'string' ? sendId : announced;
}

function ancestorsOf({ input }: PaidCallSeen): Pick<LostCall, 'ancestors'> {
  const ancestors: unknown = input?.['ancestors'];
  return {
    ancestors: Array.isArray(ancestors) ? ancestors.filter((id): id is string => typeof id === 'string') : [],
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

/**
 * `true` accepts the lost calls. A function receives the lost calls before anything changes, and can throw to refuse
 * them.
 */
export type Rebind = boolean | ((lost: LostCalls) => Promise<void>);

export interface QueueToBind {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly dataConverter: WorkerOptions['dataConverter'];
  readonly rebind: Rebind | undefined;
}

/**
 * Binds a worker's queue to its journal before anything polls. Logs warnings about the server and the queue's other
 * workers. @throws JournalBindingError
 */
export async function bindQueue(queue: QueueToBind, parts: MediaParts): Promise<void> {
  const { connection, namespace, taskQueue, dataConverter } = queue;
  const { logger } = Runtime.instance();
  const client = new Client({ connection, namespace, ...given({ dataConverter }) });
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

/** Adds the calls that histories contain to this journal, before the binding changes. */
async function keepLost(client: Client, queue: QueueToBind, journal: CreateJournal): Promise<void> {
  const { namespace, taskQueue, rebind } = queue;
  const lost = await findLostCalls(client, taskQueue, namespace, journal);
  if (typeof rebind === 'function') await rebind(lost);
  Runtime.instance().logger.warn(
    'Rebinding the task queue: the calls under these IDs were missing from this journal and have been added',
    {
      guarded: [...new Set(lost.calls.map(({ creationKey }) => creationKey))],
      executionsLookedAt: lost.looked,
    },
  );
  await keepLostCalls(journal, namespace, lost.calls);
}
