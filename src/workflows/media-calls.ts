import {
  ApplicationFailure,
  type ChildWorkflowOptions,
  executeChild,
  ParentClosePolicy,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow';
import { activityQueues, STARTED_BY, WORKFLOW } from '../domain/names';
import { type ImageOutcome, refusedBeforeSend, type VideoOutcome } from '../domain/outcome';
import { callSummary, type ImageEditRequest, type ImageGenerationRequest } from '../domain/request';
import {
  type AwaitVideoInput,
  type GenerateVideoInput,
  IMAGE_CALL_SHAPE,
  type ImageCallOptions,
} from '../domain/workflow-inputs';
import { type awaitVideo } from './await-video';
import { creationKey } from './creation-key';
import { type generateVideo } from './generate-video';
import { taskQueueIssue } from './handlers';
import { imageCall, type ImagePlace } from './image-call';

/** Options of {@link executeVideo}: those of a child workflow, but the task queue has no default. */
export type ExecuteVideoOptions = Omit<ChildWorkflowOptions, 'args' | 'taskQueue'> & {
  /** Task queue of the media workers (`MEDIA_TASK_QUEUE`); `workflowInfo().taskQueue` if the caller runs on them. */
  readonly taskQueue: string;
};

/**
 * Runs `generateVideo` as a child of the calling workflow, with a creation key made from the caller's own ids:
 * a caller that is reset or retried adopts the video that it bought before (failure model: What Temporal runs again).
 * The child's id begins with the type of its caller. A caller that ends leaves the child running (`ABANDON`): ending the
 * caller saves no money.
 */
export async function executeVideo(
  input: Omit<GenerateVideoInput, 'carried'>,
  options: ExecuteVideoOptions,
): Promise<VideoOutcome> {
  // An untyped caller may pass no options.
  const issue = taskQueueIssue((options as ExecuteVideoOptions | undefined)?.taskQueue);
  if (issue !== undefined) return refusedBeforeSend('invalid_request', issue, 'taskQueue');
  const own = creationKey((input as GenerateVideoInput | null)?.creationKey);
  if ('refused' in own) return refusedBeforeSend('creation_key_required', own.refused, 'creationKey');
  return executeChild<typeof generateVideo>(WORKFLOW.generateVideo, {
    staticSummary: callSummary((input as GenerateVideoInput | null)?.request),
    ...childOptions(options),
    args: [{ ...input, creationKey: own.key }],
  });
}

/**
 * Waits on for a video that there is, as `awaitVideo` in a child of the calling workflow: the `video` of a
 * `still_running` outcome, or the id of a task alone. Creates nothing; each call waits for `waitFor` once more.
 */
export async function resumeVideo(
  video: AwaitVideoInput['video'],
  options: ExecuteVideoOptions,
  wait: Omit<AwaitVideoInput, 'carried' | 'video'> = {},
): Promise<VideoOutcome> {
  const issue = taskQueueIssue((options as ExecuteVideoOptions | undefined)?.taskQueue);
  if (issue !== undefined) return refusedBeforeSend('invalid_request', issue, 'taskQueue');
  return executeChild<typeof awaitVideo>(WORKFLOW.awaitVideo, {
    ...childOptions(options),
    args: [{ ...wait, video }],
  });
}

/** The server allows 1,000 bytes in an id, whatever the caller's name is made of. */
const MAX_NAME = 250;

function childOptions(options: ExecuteVideoOptions): ExecuteVideoOptions {
  return {
    // A paid video is finished and kept even if its caller ends; the caller's retry adopts it.
    parentClosePolicy: ParentClosePolicy.ABANDON,
    // Says whose it is, by the caller's type: its id is not in its history, which is replayed under any id. And not one
    // that a reset of the caller asks for again: the child that runs would refuse it.
    workflowId: `${workflowInfo().workflowType.slice(0, MAX_NAME)}/video/${uuid4()}`,
    ...options,
    memo: { ...options.memo, ...STARTED_BY },
  };
}

/** Image calls of a workflow: plain activities with keys made from the caller's ids. */
export interface MediaCalls {
  /** Buys images. Never throws for what the service does: the outcome says it. */
  generateImage(request: ImageGenerationRequest, options?: ImageCallOptions): Promise<ImageOutcome>;
  /** Buys an edit of images. Never throws for what the service does: the outcome says it. */
  editImage(request: ImageEditRequest, options?: ImageCallOptions): Promise<ImageOutcome>;
}

/** Options of every call of a workflow. */
export type MediaCallDefaults = Omit<ImageCallOptions, 'creationKey' | 'taskQueue'> &
  Pick<ExecuteVideoOptions, 'taskQueue'>;

function placeOf(taskQueue: string): ImagePlace {
  const refused = taskQueueIssue(taskQueue);
  const place = refused === undefined ? { taskQueue: activityQueues(taskQueue).image } : { refused };
  return { ...place, shape: IMAGE_CALL_SHAPE };
}

/** The image activities of this package for use in a workflow; `defaults` apply to every call. */
export function mediaActivities(defaults: MediaCallDefaults): MediaCalls {
  const call =
    (operation: Parameters<typeof imageCall>[0]) =>
    (request: ImageEditRequest | ImageGenerationRequest, options?: ImageCallOptions) => {
      const input = { ...defaults, ...options, request };
      return imageCall(operation, input, placeOf(input.taskQueue));
    };
  return { generateImage: call('generate_image'), editImage: call('edit_image') };
}

type Outcome = VideoOutcome | ImageOutcome;
type Completed<Of> = Extract<Of, { readonly outcome: 'completed' }>;

/** Under the same key another try of the workflow gets the same again, unless a person does something first. */
const FINAL: ReadonlySet<string> = new Set(['failed', 'rejected', 'unconfirmed', 'task_unknown']);

/**
 * An outcome that is a success; any other ends the calling workflow as failed, so that one that ignores outcomes does not
 * end as completed. What the outcome holds, such as the id of a task that goes on, is in the details of the failure.
 *
 * @throws ApplicationFailure its `type` is that of the outcome, such as `still_running`, its only detail the outcome; it
 * is not retryable where another try of the workflow would end so again, unless a person does something first
 */
export function orThrow<Of extends Outcome>(outcome: Of): Completed<Of> {
  if (isCompleted(outcome)) return outcome;
  const { outcome: type } = outcome;
  const detail = detailOf(outcome);
  throw ApplicationFailure.create({
    type,
    message: `${type}${detail === '' ? '' : `/${detail}`}: the outcome, with the id of its task where there is one, is in the details.`,
    nonRetryable: FINAL.has(type),
    details: [outcome],
  });
}

function isCompleted<Of extends Outcome>(outcome: Of): outcome is Of & Completed<Of> {
  return outcome.outcome === 'completed';
}

/** Why, as the table of failures names it (docs/errors.md). */
function detailOf(outcome: Outcome): string {
  if (outcome.outcome === 'failed') return outcome.error.kind;
  return 'reason' in outcome ? outcome.reason : '';
}
