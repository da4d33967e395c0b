import { executeChild, ParentClosePolicy, type ChildWorkflowOptions } from '@temporalio/workflow';
import { WORKFLOW } from '../domain/names';
import { refusedBeforeSend } from '../domain/outcomes';
import { type ImageOutcome, type VideoOutcome } from '../domain/outcome';
import { type ImageEditRequest, type ImageGenerationRequest } from '../domain/request';
import { type GenerateImageWorkflowInput, type GenerateVideoInput } from '../domain/workflow-inputs';
import { creationKey } from './creation-key';
import { type generateVideo } from './generate-video';
import { imageCall } from './image-call';

/**
 * Runs `generateVideo` as a child of the calling workflow, with a creation key made from the caller's own ids:
 * a caller that is reset or retried adopts the video that it bought before (failure-model 16, 16b).
 */
export async function executeVideo(
  input: Omit<GenerateVideoInput, 'carried'>,
  options: Omit<ChildWorkflowOptions, 'args'> = {},
): Promise<VideoOutcome> {
  const own = creationKey(input.creationKey);
  if ('refused' in own) {
    return refusedBeforeSend('creation_key_required', own.refused, 'creationKey');
  }
  return executeChild<typeof generateVideo>(WORKFLOW.generateVideo, {
    // A paid video is finished and kept although its caller ended; the caller's retry adopts it.
    parentClosePolicy: ParentClosePolicy.ABANDON,
    ...options,
    args: [{ ...input, creationKey: own.key }],
  });
}

/** What a workflow calls for images: plain activities with keys made from the caller's ids. */
export interface MediaCalls {
  generateImage(request: ImageGenerationRequest, options?: ImageCallOptions): Promise<ImageOutcome>;
  editImage(request: ImageEditRequest, options?: ImageCallOptions): Promise<ImageOutcome>;
}

export type ImageCallOptions = Omit<GenerateImageWorkflowInput, 'request'>;

/** The image activities of this package for use in a workflow; `defaults` go into every call. */
export function mediaActivities(defaults: Omit<ImageCallOptions, 'creationKey'> = {}): MediaCalls {
  return {
    generateImage: (request, options) => imageCall('generate_image', { ...defaults, ...options, request }),
    editImage: (request, options) => imageCall('edit_image', { ...defaults, ...options, request }),
  };
}
