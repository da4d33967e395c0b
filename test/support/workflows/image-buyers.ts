import { proxyActivities } from '@temporalio/workflow';
import { ACTIVITY } from '../../../src/domain/names';
import { type MediaActivities } from '../../../src/domain/activities';
import { type ImageOutcome } from '../../../src/domain';
import { type GenerateImageInput } from '../../../src/domain/paid-call';
import { type ImageGenerationRequest } from '../../../src/domain/request';
import { mediaActivities } from '../../../src/workflows';

export * from '../../../src/workflows';

/** The activity as anybody may call it, without a key and without the helpers. */
const raw = proxyActivities<Pick<MediaActivities, typeof ACTIVITY.generateImage>>({
  startToCloseTimeout: '5 minutes',
  retry: { maximumAttempts: 1 },
});

/** Buys the same image three times: by the bare activity, by a helper, and by the bare activity again. */
export async function buyImagesBothWays(request: ImageGenerationRequest): Promise<ImageOutcome[]> {
  const helpers = mediaActivities();
  return [
    await raw[ACTIVITY.generateImage]({ request }),
    await helpers.generateImage(request),
    await raw[ACTIVITY.generateImage]({ request }),
  ];
}

/** The bare activity with whatever the caller gives it. */
export async function buyImageByBareActivity(input: GenerateImageInput): Promise<ImageOutcome> {
  return raw[ACTIVITY.generateImage](input);
}
