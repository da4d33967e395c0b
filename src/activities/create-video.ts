import { heartbeat } from '@temporalio/activity';
import { referenceModeOf } from '../domain/media';
import { type CreatedVideo, type CreateVideoAnswer, type CreateVideoInput } from '../domain/paid-call';
import { DEFAULT_POLLING } from '../domain/polling-profile';
import { CREATE_TIMEOUTS } from '../domain/timeouts';
import { type WireJsonBody } from '../service/wire-body';
import { startHeartbeat } from './heartbeat';
import { indexCreated } from './index-created';
import { failureAnswer, pendingAnswer, warningsAfter } from './paid-answers';
import { caller, refuseUnsafeRetries, type PaidDeps } from './paid-context';
import { prepareVideo } from './prepare-video';
import { sendOnce, type PaidSpec } from './send-once';

/** Detail of every heartbeat: an attempt that says so had a worker, whatever the server tells of a later attempt. */
const BEGUN = { begun: true };

type Answer = Exclude<CreateVideoAnswer, { outcome: 'pending' }>;

/**
 * One POST at most for one epoch of one creation key (design 4.3). Every outcome is a value; what is thrown here was
 * thrown before anything could be sent.
 */
export function createCreateVideo(deps: PaidDeps): (input: CreateVideoInput) => Promise<CreateVideoAnswer> {
  return async (input) => {
    refuseUnsafeRetries(deps.journal);
    const beat = startHeartbeat(() => BEGUN);
    try {
      const who = caller(Date.now());
      const result = await sendOnce(deps, who, specOf(input, deps));
      if (result.kind === 'pending') return pendingAnswer(result.base);
      const key = { namespace: who.namespace, creationKey: input.creationKey };
      await indexCreated(deps.journal, key, result.answer, result.slot);
      // Not recorded: whether records can be looked into is a fact of the worker that answers.
      return result.answer.outcome === 'unconfirmed' && deps.taskRecords !== undefined
        ? { ...result.answer, inspectable: true }
        : result.answer;
    } finally {
      beat.stop();
    }
  };
}

function specOf(input: CreateVideoInput, deps: PaidDeps): PaidSpec<WireJsonBody, Answer> {
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
    facts,
    httpBudgetMs: CREATE_TIMEOUTS.httpBudgetMs,
    reopenOwn: false,
    ...(input.recordedOnly === true && { recordedOnly: true }),
    prepare: (account) => prepareVideo(request, account, deps),
    post: async ({ account, ready, intent, base, options }) => {
      const reply = await account.client.createVideo(ready.body, options);
      if (reply.class !== 'accepted') return failureAnswer(reply, base, intent);
      // Best effort: the journal is what keeps the id (design 4.3).
      heartbeat({ taskId: reply.taskId });
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
