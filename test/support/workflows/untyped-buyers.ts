import { type ActivityOptions, proxyActivities, workflowInfo } from '@temporalio/workflow';
import { type ImageOutcome, type VideoOutcome } from '../../../src/domain';
import { type MediaActivities } from '../../../src/domain/activities';
import { ACTIVITY } from '../../../src/domain/names';
import { type ImageGenerationRequest } from '../../../src/domain/request';
import { type GenerateVideoInput } from '../../../src/domain/workflow-inputs';
import {
  executeVideo,
  mediaActivities,
  orThrow,
  resumeVideo,
  type ExecuteVideoOptions,
  type ImageCallOptions,
  type MediaCallDefaults,
} from '../../../src/workflows';

export * from '../../../src/workflows';

/** The activity as anybody may call it, without a key and without the helpers. */
const raw = proxyActivities<MediaActivities>({
  startToCloseTimeout: '5 minutes',
  retry: { maximumAttempts: 1 },
});

/** Buys the same image three times: by the bare activity, by a helper, and by the bare activity again. */
export async function buyImagesBothWays(request: ImageGenerationRequest): Promise<ImageOutcome[]> {
  const helpers = mediaActivities({ taskQueue: workflowInfo().taskQueue });
  return [
    await raw[ACTIVITY.generateImage]({ request }),
    await helpers.generateImage(request),
    await raw[ACTIVITY.generateImage]({ request }),
  ];
}

/** Any bare activity, with whatever the caller gives it. */
export async function runBareActivity(
  name: string,
  input: unknown,
  options: ActivityOptions = {},
): Promise<unknown> {
  return proxyActivities<{ [name: string]: (input: unknown) => Promise<unknown> }>({
    startToCloseTimeout: '5 minutes',
    retry: { maximumAttempts: 1 },
    ...options,
  })[name]?.(input);
}

/** A video that this workflow needs: it ends as failed without one, and as often as it is told waits on. */
export async function needVideo(
  input: GenerateVideoInput,
  again: { readonly resumes: number; readonly waitFor?: string },
): Promise<{ readonly taskId: string; readonly ends: readonly string[] }> {
  const { taskQueue } = workflowInfo();
  let film: VideoOutcome = await executeVideo(input, { taskQueue });
  const ends: string[] = [film.outcome];
  for (let resumed = 0; film.outcome === 'still_running' && resumed < again.resumes; resumed += 1) {
    const wait = again.waitFor === undefined ? {} : { waitFor: again.waitFor };
    film = await resumeVideo(film.video, { taskQueue }, wait);
    ends.push(film.outcome);
  }
  return { taskId: orThrow(film).video.taskId, ends };
}

/** A helper with whatever the caller gives it, as defaults or for this call. */
export async function buyImageByHelper(
  request: ImageGenerationRequest,
  defaults: MediaCallDefaults,
  options: ImageCallOptions,
): Promise<ImageOutcome> {
  return mediaActivities(defaults).generateImage(request, options);
}

/** A child with whatever the caller gives it, on the workflow's own task queue where no options are given. */
export async function buyVideoByHelper(
  input: GenerateVideoInput,
  options: ExecuteVideoOptions = { taskQueue: workflowInfo().taskQueue },
): Promise<VideoOutcome> {
  return executeVideo(input, options);
}

/** An untyped caller that names no queue. */
export async function resumeNowhere(): Promise<VideoOutcome> {
  return resumeVideo({ taskId: 'video_1' }, {} as ExecuteVideoOptions);
}
