import { given } from '../domain/json';
import {
  CREATE_VIDEO_INPUT_SHAPE,
  type CreatedVideo,
  type CreateVideoAnswer,
  type CreateVideoInput,
} from '../domain/paid-call';
import { referenceModeOf } from '../domain/request';
import { shapeIssue } from '../domain/shape';
import { DEFAULT_POLLING } from '../domain/video-task';
import { type PaidSpec } from './intent';
import { indexCreated } from './key-log';
import {
  compared,
  failureAnswer,
  invalidAnswer,
  rejectedAnswer,
  unreadBase,
  warningsAfter,
} from './paid-answers';
import { type Caller, caller, type PaidDeps, refuseUnsafeRetries } from './paid-context';
import { prepareVideo } from './prepare-video';
import { sendOnce } from './send-once';
import { type Sender, withSender } from './sender';

type VideoCall = CreateVideoInput & Pick<PaidSpec, 'agreedPrice' | 'keepsBooks' | 'payer'>;

/**
 * Sends at most one POST per intent under a creation key (architecture: Create), either for a single video or for a row
 * in a group. Every outcome is a value. Errors are thrown only before anything could be sent.
 * @param sender receives the task ID as soon as the service replies, before it is recorded. This is best effort,
 * because the journal also stores the ID.
 */
export async function createOneVideo(
  deps: PaidDeps,
  who: Caller,
  input: VideoCall,
  sender: Sender,
): Promise<CreateVideoAnswer> {
  const { answer, send } = await sendOnce(deps, who, specOf(input, deps, sender));
  if (answer.outcome === 'pending') return answer;
  const key = { namespace: who.namespace, creationKey: input.creationKey };
  await sender.inTime(indexCreated(deps.journal, key, answer, send));
  // `inspectable` is not recorded, because it depends on which worker answers.
  return answer.outcome === 'unconfirmed' && deps.taskRecords !== undefined
    ? { ...answer, inspectable: true, ...compared(send) }
    : (answer as CreateVideoAnswer);
}

function specOf(input: VideoCall, deps: PaidDeps, sender: Sender): PaidSpec {
  const { request } = input;
  const facts = {
    durationSeconds: request.durationSeconds ?? null,
    resolution: request.resolution ?? null,
    referenceMode: referenceModeOf(request.references),
  };
  return {
    ...input,
    paid: { operation: 'create_video', request },
    facts,
    afterReplyMs: 0,
    retries: false,
    sender,
    prepare: (account) => prepareVideo(request, account, deps),
    post: async ({ account, ready, intent, base, exchange }) => {
      const { body, actual } = ready;
      const reply = await exchange((options) => account.client.createVideo(body, { ...options, actual }));
      if (reply.class !== 'accepted') return failureAnswer(reply, base, intent);
      sender.created(reply.taskId);
      const created: CreatedVideo = {
        ...base,
        outcome: 'created',
        status: reply.status,
        warnings: warningsAfter(base, ready.warnings),
        ...given({ actual: reply.actual }),
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

/** Before any lookup, validates the fields that an untyped caller can get wrong. */
function rawInputIssue(input: CreateVideoInput): CreateVideoAnswer | undefined {
  const base = unreadBase(undefined);
  const issue = shapeIssue(input, CREATE_VIDEO_INPUT_SHAPE);
  if (issue === undefined) return undefined;
  if (issue.field !== 'creationKey') return invalidAnswer(base, issue);
  const message =
    'creationKey must be a string, such as the ID of the row or order that it is for. Nothing was sent.';
  return rejectedAnswer(base, 'creation_key_required', message, { field: 'creationKey' });
}

/** Implements `media.createVideo`: makes one create ({@link createOneVideo}). */
export function createCreateVideo(deps: PaidDeps): (input: CreateVideoInput) => Promise<CreateVideoAnswer> {
  return async (input) => {
    refuseUnsafeRetries(deps.journal);
    const refused = rawInputIssue(input);
    if (refused !== undefined) return refused;
    const who = caller(input);
    return withSender(deps, (sender) => createOneVideo(deps, who, input, sender));
  };
}
