import { type Client } from '@temporalio/client';
import { isPassed } from './activities/send-attempts';
import { type LostIntent, recordPlaceholder } from './activities/placeholder-intent';
import { paidCallsOn } from './binding/earlier-calls';
import { type PaidCallSeen } from './binding/paid-calls';
import { type CreateJournal, isRefusal, isPlaceholder, type ClaimIntent } from './domain/journal';
import { ACTIVITY, baseTaskQueue } from './domain/names';
import { type CreatedVideo } from './domain/paid-call';

/** Executions of the queue whose histories are read, the newest first. */
const LOOKED_AT = 1_000;

/** A paid call that histories tell of and the journal does not know. */
export interface LostCall {
  readonly creationKey: string;
  readonly sendAttempt: number;
  readonly workflowId: string;
  readonly runId: string;
  readonly activityId: string;
  readonly attemptAt: string;
  /** The video that it came to, where its history says so. */
  readonly created?: CreatedVideo;
  readonly operation: 'create_video' | 'generate_image' | 'edit_image';
  readonly model: string;
}

/** What a rebind finds before it gives anything up. */
export interface LostCalls {
  readonly calls: readonly LostCall[];
  /** Paid calls whose ids cannot be read here, as behind a codec of others: nothing guards them. */
  readonly unread: number;
  /** Most executions that were looked at: what is older is not found. */
  readonly looked: number;
}

/**
 * Before a queue is bound to a journal that was not there all the time (another one, or one restored from a copy): the paid
 * calls that histories tell of and that it does not know. Writes nothing.
 */
export async function findLostCalls(
  client: Client,
  taskQueue: string,
  namespace: string,
  journal: CreateJournal,
): Promise<LostCalls> {
  const seen = paidCallsOn(client, baseTaskQueue(taskQueue), (looked) => looked >= LOOKED_AT);
  return { ...(await lostAmong(seen, namespace, journal)), looked: LOOKED_AT };
}

/** Which of these calls a journal does not know. */
export async function lostAmong(
  calls: AsyncIterable<PaidCallSeen> | Iterable<PaidCallSeen>,
  namespace: string,
  journal: CreateJournal,
): Promise<Pick<LostCalls, 'calls' | 'unread'>> {
  const lost: LostCall[] = [];
  let unread = 0;
  for await (const seen of calls) {
    const { creationKey, sendAttempt, workflowId, runId, activityId, scheduledAt: attemptAt, answer } = seen;
    if (creationKey === null) {
      unread += 1;
      continue;
    }
    const created = answer?.['outcome'] === 'created' ? (answer as unknown as CreatedVideo) : undefined;
    const model = created?.video.model ?? modelOf(seen);
    const place = { creationKey, sendAttempt, workflowId, runId, activityId, attemptAt };
    const call = { ...place, operation: operationOf(seen), model, ...(created !== undefined && { created }) };
    if (!(await isKnown(journal, { namespace, creationKey }, call))) lost.push(call);
  }
  return { calls: lost, unread };
}

/**
 * Writes them into the journal. A video that was created is found again under its key; everything else is of unknown fate,
 * so that nothing is sent under its key before a person has decided.
 */
export async function keepLostCalls(
  journal: CreateJournal,
  namespace: string,
  calls: readonly LostCall[],
): Promise<void> {
  for (const call of calls) {
    const { creationKey, created, operation, model } = call;
    const key = { namespace, creationKey };
    // By one before it, of the same key.
    if (await isKnown(journal, key, call)) continue;
    const { durationSeconds = null, resolution = null, referenceMode = null } = created?.video ?? {};
    const lost: LostIntent = {
      operation,
      account: created?.video.account ?? '',
      model,
      durationSeconds,
      resolution,
      referenceMode,
      // Nobody can tell any more whether a request is the same: the first one is kept for all.
      fingerprint: null,
      lastHeartbeat: null,
      cause: 'journal_changed',
      ...(created !== undefined && { created }),
    };
    await recordPlaceholder(journal, key, call, lost);
  }
}

/**
 * Whether a journal has what stopped a call or what it left: a call goes on over refusals and decisions only. A placeholder that
 * was written before counts too, until a person has opened the way beyond it.
 */
async function isKnown(
  journal: CreateJournal,
  key: { readonly namespace: string; readonly creationKey: string },
  call: LostCall,
): Promise<boolean> {
  for (let sendAttempt = 0; ; sendAttempt++) {
    const { claim, outcome, resolution } = await journal.read(key, sendAttempt);
    if (claim === null) return false;
    const isOpened = resolution?.decision === 'resubmit';
    if (claim.kind === 'intent' && isPlaceholder(claim) && !isOpened) return true;
    if (sendAttempt < call.sendAttempt) continue;
    if (claim.kind === 'fence') return true;
    const isOver = outcome !== null && isRefusal(outcome.answer, Infinity);
    if (isOf(claim, call) && !(isOver && goesOnByItself(call))) return true;
    // Its request may have been another one, which any refusal lets pass; and what stands open here may have been refused
    // since, as whoever was told of it knows.
    if (outcome === null || isOver || isOpened) continue;
    if (!(await isPassed(journal, key, sendAttempt))) return true;
  }
}

function isOf({ runId, activityId }: ClaimIntent, call: LostCall): boolean {
  return runId === call.runId && activityId === call.activityId;
}

/** An image activity sends again after a refusal, in the next send attempt; after that of a video its workflow asks anew. */
function goesOnByItself({ operation }: LostCall): boolean {
  return operation !== 'create_video';
}

function operationOf({ type, input }: PaidCallSeen): LostCall['operation'] {
  if (type === ACTIVITY.createVideo || type === ACTIVITY.createVideos) return 'create_video';
  const request = input?.['request'];
  return type === ACTIVITY.editImage ||
    (typeof request === 'object' && request !== null && 'images' in request)
    ? 'edit_image'
    : 'generate_image';
}

function modelOf({ input }: PaidCallSeen): string {
  const request = input?.['request'];
  const model: unknown =
    typeof request === 'object' && request !== null && 'model' in request ? request.model : '';
  return typeof model === 'string' ? model : '';
}
