import { executeChild, ParentClosePolicy, type ChildWorkflowOptions } from '@temporalio/workflow';
import { activityQueues, WORKFLOW } from '../domain/names';
import { refusedBeforeSend } from '../domain/make-outcome';
import { type ImageOutcome, type VideoOutcome } from '../domain/outcome';
import { type ImageEditRequest, type ImageGenerationRequest } from '../domain/request';
import { IMAGE_CALL_KEYS, type GenerateVideoInput, type ImageCallOptions } from '../domain/workflow-inputs';
import { creationKey } from './creation-key';
import { type generateVideo } from './generate-video';
import { imageCall } from './image-call';
import { isTaskQueue, NO_TASK_QUEUE } from './inputs';

/** Options of {@link executeVideo}: those of a child workflow, but the task queue has no default. */
export type ExecuteVideoOptions = Omit<ChildWorkflowOptions, 'args' | 'taskQueue'> & {
  /** Task queue of the media workers (`MEDIA_TASK_QUEUE`); `workflowInfo().taskQueue` if the caller runs on them. */
  readonly taskQueue: string;
};

/**
 * Runs `generateVideo` as a child of the calling workflow, with a creation key made from the caller's own ids:
 * a caller that is reset or retried adopts the video that it bought before (failure model: What Temporal runs again).
 */
export async function executeVideo(
  input: Omit<GenerateVideoInput, 'carried'>,
  options: ExecuteVideoOptions,
): Promise<VideoOutcome> {
  // An untyped caller may pass no options.
  if (!isTaskQueue((options as ExecuteVideoOptions | undefined)?.taskQueue))
    return refusedBeforeSend('invalid_request', NO_TASK_QUEUE, 'taskQueue');
  const own = creationKey(input.creationKey);
  if ('refused' in own) {
    return refusedBeforeSend('creation_key_required', own.refused, 'creationKey');
  }
  return executeChild<typeof generateVideo>(WORKFLOW.generateVideo, {
    // A paid video is finished and kept even if its caller ends; the caller's retry adopts it.
    parentClosePolicy: ParentClosePolicy.ABANDON,
    ...options,
    args: [{ ...input, creationKey: own.key }],
  });
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

/** The image activities of this package for use in a workflow; `defaults` apply to every call. */
export function mediaActivities(defaults: MediaCallDefaults): MediaCalls {
  const place = (taskQueue: unknown) => ({
    taskQueue: isTaskQueue(taskQueue) ? activityQueues(taskQueue).image : undefined,
    known: IMAGE_CALL_KEYS,
  });
  return {
    generateImage: (request, options) => {
      const input = { ...defaults, ...options, request };
      return imageCall('generate_image', input, place(input.taskQueue));
    },
    editImage: (request, options) => {
      const input = { ...defaults, ...options, request };
      return imageCall('edit_image', input, place(input.taskQueue));
    },
  };
}
