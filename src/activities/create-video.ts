import { type CreateVideoAnswer, type CreateVideoInput } from '../domain/paid-call';
import { createOneVideo } from './create-one-video';
import { caller, refuseUnsafeRetries, type PaidDeps } from './paid-context';
import { withSender } from './sender';

/** `media.createVideo`: one create ({@link createOneVideo}). */
export function createCreateVideo(deps: PaidDeps): (input: CreateVideoInput) => Promise<CreateVideoAnswer> {
  return async (input) => {
    refuseUnsafeRetries(deps.journal);
    const startedAt = Date.now();
    return withSender(deps, (sender) => createOneVideo(deps, caller(startedAt), input, sender));
  };
}
