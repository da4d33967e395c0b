import { heartbeat } from '@temporalio/activity';
import { type CreateVideoAnswer, type CreateVideoInput } from '../domain/paid-call';
import { createOneVideo } from './create-one-video';
import { startHeartbeat } from './heartbeat';
import { caller, refuseUnsafeRetries, type PaidDeps } from './paid-context';

/** Detail of every heartbeat: an attempt that says so had a worker, whatever the server tells of a later attempt. */
const BEGUN = { begun: true };

/** `media.createVideo`: one create ({@link createOneVideo}). */
export function createCreateVideo(deps: PaidDeps): (input: CreateVideoInput) => Promise<CreateVideoAnswer> {
  return async (input) => {
    refuseUnsafeRetries(deps.journal);
    const beat = startHeartbeat(() => BEGUN);
    try {
      // Best effort: the journal is what keeps the id (design 4.3).
      return await createOneVideo(deps, caller(Date.now()), input, (taskId) => heartbeat({ taskId }));
    } finally {
      beat.stop();
    }
  };
}
