import { referenceModeOf } from '../domain/media';
import { type CreatedVideo, type CreateVideoAnswer, type CreateVideoInput } from '../domain/paid-call';
import { DEFAULT_POLLING } from '../domain/polling-profile';
import { type WireJsonBody, type WireMultipartBody } from '../service/wire-body';
import { indexCreated } from './index-created';
import { failureAnswer, pendingAnswer, warningsAfter } from './paid-answers';
import { type Caller, type PaidDeps } from './paid-context';
import { prepareVideo } from './prepare-video';
import { type Sender } from './sender';
import { sendOnce, type PaidSpec } from './send-once';

type Answer = Exclude<CreateVideoAnswer, { outcome: 'pending' }>;
type VideoCall = CreateVideoInput &
  Pick<PaidSpec<WireJsonBody | WireMultipartBody, Answer>, 'agreedPrice' | 'keepsBooks' | 'payer'>;

/**
 * One POST at most for one epoch of one creation key (architecture: Create), alone or as a row of a group. Every outcome is a
 * value; what is thrown here was thrown before anything could be sent.
 * @param sender told the id as soon as the service named it, before it is recorded: best effort, the journal keeps it
 */
export async function createOneVideo(
  deps: PaidDeps,
  who: Caller,
  input: VideoCall,
  sender: Sender,
): Promise<CreateVideoAnswer> {
  const result = await sendOnce(deps, who, specOf(input, deps, sender));
  const { slot, word } = result;
  // A slot that is handed on was compared with this request.
  const compared = {
    ...(word !== undefined && { word }),
    ...(slot !== null && { fingerprint: slot.fingerprint }),
  };
  if (result.kind === 'pending') return pendingAnswer(result.base, compared);
  const key = { namespace: who.namespace, creationKey: input.creationKey };
  await indexCreated(deps.journal, key, result.answer, slot);
  // Not recorded: whether records can be looked into is a fact of the worker that answers.
  return result.answer.outcome === 'unconfirmed' && deps.taskRecords !== undefined
    ? { ...result.answer, inspectable: true, ...compared }
    : result.answer;
}

function specOf(
  input: VideoCall,
  deps: PaidDeps,
  sender: Sender,
): PaidSpec<WireJsonBody | WireMultipartBody, Answer> {
  const { request } = input;
  const facts = {
    durationSeconds: request.durationSeconds ?? null,
    resolution: request.resolution ?? null,
    referenceMode: referenceModeOf(request.references),
  };
  return {
    paid: { operation: 'create_video', request },
    creationKey: input.creationKey,
    epoch: input.epoch,
    account: input.account,
    policy: input.policy,
    refuseWhileUnconfirmed: input.refuseWhileUnconfirmed,
    again: input.again,
    facts,
    afterReplyMs: 0,
    reopenOwn: false,
    sender,
    agreedPrice: input.agreedPrice,
    payer: input.payer,
    ...(input.keepsBooks === true && { keepsBooks: true }),
    ...(input.recordedOnly === true && { recordedOnly: true }),
    ...(input.sameKey === true && { sameKey: true }),
    prepare: (account) => prepareVideo(request, account, deps),
    post: async ({ account, ready, intent, base, options }) => {
      const reply = await account.client.createVideo(ready.body, options);
      if (reply.class !== 'accepted') return failureAnswer(reply, base, intent);
      sender.created(reply.taskId);
      const created: CreatedVideo = {
        ...base,
        outcome: 'created',
        status: reply.status,
        warnings: warningsAfter(base, ready.warnings),
        video: {
          taskId: reply.taskId,
          model: request.model,
          ...facts,
          account: account.name,
          polling: ready.polling ?? DEFAULT_POLLING,
          createdAt: new Date().toISOString(),
          source: 'create_reply',
        },
      };
      return created;
    },
  };
}
