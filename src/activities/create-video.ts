import { unknownKey } from '../domain/known-keys';
import { CREATE_VIDEO_INPUT_KEYS, type CreateVideoAnswer, type CreateVideoInput } from '../domain/paid-call';
import { createOneVideo } from './create-one-video';
import { invalidAnswer, rejectedAnswer } from './paid-answers';
import { caller, refuseUnsafeRetries, type PaidDeps } from './paid-context';
import { withSender } from './sender';

/** What an untyped caller may get wrong before there is anything to look up. */
function rawInputIssue(input: CreateVideoInput): CreateVideoAnswer | undefined {
  const base = { epoch: 0, sent: false, account: null, estimate: null };
  const unknown = unknownKey(input, CREATE_VIDEO_INPUT_KEYS);
  if (unknown !== undefined) return invalidAnswer(base, unknown);
  const { creationKey } = input;
  if (typeof creationKey === 'string' && creationKey !== '') return undefined;
  const message =
    'creationKey must be a text, such as the id of the row or order it serves. Nothing was sent.';
  return rejectedAnswer(base, 'creation_key_required', message, { field: 'creationKey' });
}

/** `media.createVideo`: one create ({@link createOneVideo}). */
export function createCreateVideo(deps: PaidDeps): (input: CreateVideoInput) => Promise<CreateVideoAnswer> {
  return async (input) => {
    refuseUnsafeRetries(deps.journal);
    const refused = rawInputIssue(input);
    if (refused !== undefined) return refused;
    const startedAt = Date.now();
    return withSender(deps, (sender) => createOneVideo(deps, caller(startedAt), input, sender));
  };
}
