import {
  ActivityCancellationType,
  ApplicationFailure,
  CancellationScope,
  ChildWorkflowCancellationType,
  continueAsNew,
  executeChild,
  isCancellation,
  proxyActivities,
  workflowInfo,
} from '@temporalio/workflow';
import { type MediaActivities } from '../../../../src/domain/activities';
import { ACTIVITY } from '../../../../src/domain/names';
import { type ImageEditRequest, type ImageGenerationRequest } from '../../../../src/domain/request';
import { type GenerateVideoInput } from '../../../../src/domain/workflow-inputs';
import { executeVideo, generateVideo as ours, mediaActivities } from '../../../../src/workflows';
import { FAILS_ONCE } from './fails-once';

export * from '../../../../src/workflows';

/** What a user's workflow does to buy: by our helpers, or past them. */
export type Call =
  | 'video by helper'
  | 'video as a plain child'
  | 'image by helper'
  | 'edit by helper'
  | 'raw create'
  | 'raw image'
  | 'raw edit'
  | 'a child that buys';

export interface Plan {
  readonly call: Call;
  readonly input: GenerateVideoInput;
  /** What the child that buys does. */
  readonly inner?: Plan;
  /** The first attempt of this workflow fails after it has bought. */
  readonly failsOnce?: boolean;
  /** The child is given a retry policy. */
  readonly childRetries?: boolean;
  /** Buys so many times, each in a run of its own. @default 1 */
  readonly rounds?: number;
  /** What the rounds before this one bought. */
  readonly bought?: readonly unknown[];
}

const RETRY = { maximumAttempts: 2, initialInterval: '1s' } as const;

/** Ours, and a failure at the end of the first attempt for who asks for it: by itself it never fails. */
export async function generateVideo(input: GenerateVideoInput): Promise<unknown> {
  const outcome = await ours(input);
  if (input.request.prompt.includes(FAILS_ONCE)) failFirstAttempt();
  return outcome;
}

/** A user's workflow that buys; its result is everything that its rounds bought. */
export async function buyer(plan: Plan): Promise<readonly unknown[]> {
  const bought = [...(plan.bought ?? []), ...flat(await buy(plan))];
  if (plan.failsOnce === true) failFirstAttempt();
  if (bought.length < (plan.rounds ?? 1)) return continueAsNew<typeof buyer>({ ...plan, bought });
  return bought;
}

/** Buys in a way that does not wait for what is cancelled, and when it is cancelled asks again under the same key. */
export async function impatientBuyer(plan: Plan): Promise<readonly unknown[]> {
  try {
    return flat(await buy(plan, true));
  } catch (error) {
    if (!isCancellation(error)) throw error;
    // A raw create answers "pending" to a second caller; waiting for the first one is what the workflow does.
    const again: Plan = plan.call === 'raw create' ? { ...plan, call: 'video by helper' } : plan;
    return CancellationScope.nonCancellable(async () => flat(await buy(again)));
  }
}

function failFirstAttempt(): void {
  if (workflowInfo().attempt === 1) throw ApplicationFailure.retryable('try the whole run again');
}

const flat = (bought: unknown): readonly unknown[] => (Array.isArray(bought) ? bought : [bought]);

function buy(plan: Plan, tryCancel = false): Promise<unknown> {
  const { input, inner, childRetries } = plan;
  const retry = childRetries === true ? { retry: RETRY } : {};
  const key = input.creationKey === undefined ? {} : { creationKey: input.creationKey };
  const here = { taskQueue: workflowInfo().taskQueue };
  const raw = key;
  const image = input.request as ImageGenerationRequest;
  const edit = input.request as ImageEditRequest;
  switch (plan.call) {
    case 'video by helper': {
      const cancellationType = ChildWorkflowCancellationType.TRY_CANCEL;
      return executeVideo(input, { ...here, ...retry, ...(tryCancel && { cancellationType }) });
    }
    case 'video as a plain child':
      return executeChild<typeof generateVideo>('generateVideo', { args: [input], ...retry });
    case 'image by helper':
      return mediaActivities(here).generateImage(image, key);
    case 'edit by helper':
      return mediaActivities(here).editImage(edit, key);
    case 'raw create':
      return rawActivities(tryCancel)[ACTIVITY.createVideo]({
        ...raw,
        creationKey: input.creationKey ?? '',
        request: input.request,
      });
    case 'raw image':
      return rawActivities(tryCancel)[ACTIVITY.generateImage]({ ...raw, request: image });
    case 'raw edit':
      return rawActivities(tryCancel)[ACTIVITY.editImage]({ ...raw, request: edit });
    case 'a child that buys':
      if (inner === undefined) throw ApplicationFailure.nonRetryable('a child that buys what?');
      return executeChild<typeof buyer>('buyer', { args: [inner], ...retry });
  }
}

/** As somebody may call them who has not read our retry policies. */
function rawActivities(tryCancel: boolean): MediaActivities {
  return proxyActivities<MediaActivities>({
    startToCloseTimeout: '8 minutes',
    heartbeatTimeout: '10s',
    retry: { maximumAttempts: 5, initialInterval: '1s' },
    cancellationType: tryCancel
      ? ActivityCancellationType.TRY_CANCEL
      : ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  });
}
