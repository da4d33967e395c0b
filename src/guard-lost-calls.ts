import { type Client } from '@temporalio/client';
import { standIn } from './activities/stand-in';
import { paidCallsOn } from './binding/earlier-calls';
import { type PaidCallSeen } from './binding/paid-calls';
import { type CreateJournal } from './domain/create-journal';
import { ACTIVITY, baseTaskQueue } from './domain/names';
import { type CreatedVideo } from './domain/paid-call';

/** Executions of the queue whose histories are read, the newest first. */
const LOOKED_AT = 1_000;

export interface GuardedCalls {
  /** Creation keys that this journal did not know. */
  readonly guarded: readonly string[];
  /** Most executions that were looked at: what is older is not found. */
  readonly looked: number;
}

/**
 * Before a queue is bound to a journal that was not there all the time (another one, or one restored from a copy): what
 * histories tell of paid calls that it does not know is written into it. A video that was created is found again under its
 * key; everything else is of unknown fate, so that nothing is sent under its key before a person has decided.
 */
export async function guardLostCalls(
  client: Client,
  taskQueue: string,
  namespace: string,
  journal: CreateJournal,
): Promise<GuardedCalls> {
  const guarded: string[] = [];
  for await (const call of paidCallsOn(client, baseTaskQueue(taskQueue), LOOKED_AT)) {
    const key = { namespace, creationKey: call.creationKey };
    if (await isKnown(journal, key, call.epoch)) continue;
    const { answer } = call;
    const created = answer?.['outcome'] === 'created' ? (answer as unknown as CreatedVideo) : undefined;
    const { durationSeconds = null, resolution = null, referenceMode = null } = created?.video ?? {};
    await standIn(
      journal,
      key,
      { ...call, attemptAt: call.scheduledAt },
      {
        operation: operationOf(call),
        account: created?.video.account ?? '',
        model: created?.video.model ?? modelOf(call),
        durationSeconds,
        resolution,
        referenceMode,
        // Nobody can tell any more whether a request is the same: the first one is kept for all.
        fingerprint: null,
        heard: null,
        ...(created !== undefined && { created }),
      },
    );
    guarded.push(call.creationKey);
  }
  return { guarded, looked: LOOKED_AT };
}

/** A stand-in that was written before counts too. */
async function isKnown(
  journal: CreateJournal,
  key: { readonly namespace: string; readonly creationKey: string },
  epoch: number,
): Promise<boolean> {
  if ((await journal.read(key, epoch)).slot !== null) return true;
  const { slot } = await journal.read(key, 0);
  return slot?.kind === 'intent' && slot.fingerprint === null;
}

function operationOf({ type, input }: PaidCallSeen): 'create_video' | 'generate_image' | 'edit_image' {
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
