import { ActivityFailure, ApplicationFailure, CancellationScope, TimeoutFailure } from '@temporalio/workflow';
import { billing } from '../domain/billing';
import { DEFAULT_START_LIMIT_MS } from '../domain/create-once';
import { evidence } from '../domain/evidence';
import { ACTIVITY, UNSAFE_RETRY_POLICY } from '../domain/names';
import { type ImageOutcome } from '../domain/outcome';
import { outcomes } from '../domain/outcomes';
import { type ImageEditRequest } from '../domain/request';
import { type EditImageWorkflowInput, type GenerateImageWorkflowInput } from '../domain/workflow-inputs';
import { ownCreationKey, takeOrdinal } from './creation-key';
import { milliseconds } from './durations';
import { isRequest } from './is-request';
import { imageActivities } from './proxies';

/**
 * One image activity with a key of its own. Never cancelled on its way: a paid exchange that is cut off is paid
 * all the same. Never throws: a lost worker becomes `unconfirmed`.
 */
export async function imageCall(
  operation: 'generate_image' | 'edit_image',
  input: GenerateImageWorkflowInput | EditImageWorkflowInput,
): Promise<ImageOutcome> {
  if (!isRequest(input?.request))
    return outcomes.refusedBeforeSend('invalid_request', 'The request must be an object.', 'request');
  const own =
    input.creationKey === undefined || input.creationKey === ''
      ? ownCreationKey(takeOrdinal())
      : { key: input.creationKey };
  if ('refused' in own)
    return outcomes.refusedBeforeSend('creation_key_required', own.refused, 'creationKey');
  if (CancellationScope.current().consideredCancelled)
    return outcomes.cancelled(null, own.key, billing(null, 'none'));
  const activities = imageActivities({
    taskQueue: input.queues?.image,
    startLimitMs: milliseconds(input.startLimit ?? DEFAULT_START_LIMIT_MS) ?? DEFAULT_START_LIMIT_MS,
    summary: operation.replace('_', ' '),
  });
  const call = {
    creationKey: own.key,
    epoch: 0,
    ...(input.account === undefined ? {} : { account: input.account }),
    ...(input.policy === undefined ? {} : { policy: input.policy }),
  };
  try {
    return await CancellationScope.nonCancellable(() =>
      operation === 'generate_image'
        ? activities[ACTIVITY.generateImage]({ ...call, request: input.request })
        : activities[ACTIVITY.editImage]({ ...call, request: input.request as ImageEditRequest }),
    );
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return ofLostActivity(error, own.key, input);
  }
}

function ofLostActivity(
  error: ActivityFailure,
  creationKey: string,
  { request, account }: GenerateImageWorkflowInput | EditImageWorkflowInput,
): ImageOutcome {
  const timeout = error.cause instanceof TimeoutFailure ? error.cause.timeoutType : undefined;
  const common = { epoch: 0, account: account ?? null, estimate: null };
  if (timeout === 'SCHEDULE_TO_START') {
    const message =
      'No worker took the image call before its start limit: nothing was sent. Start a worker on its task queue.';
    return outcomes.rejected(
      { ...common, outcome: 'rejected', sent: false, reason: 'not_sent', message },
      creationKey,
      0,
    );
  }
  const refusal = refusedWithoutJournal(error.cause);
  if (refusal !== undefined) {
    const reason = 'unsafe_retry_policy';
    return outcomes.rejected(
      { ...common, outcome: 'rejected', sent: false, reason, message: refusal },
      creationKey,
      0,
    );
  }
  const known = evidence(timeout === undefined ? 'activity_failed' : 'worker_lost', {
    model: request.model,
    account: account ?? null,
  });
  return outcomes.unconfirmed(
    { ...common, outcome: 'unconfirmed', sent: true, evidence: known },
    creationKey,
  );
}

/** The message of a first attempt that a worker without a journal refused: nothing was sent. */
function refusedWithoutJournal(cause: unknown): string | undefined {
  if (!(cause instanceof ApplicationFailure) || cause.type !== UNSAFE_RETRY_POLICY) return undefined;
  const [details] = (cause.details ?? []) as [{ readonly attempt?: number }?];
  return details?.attempt === 1 ? cause.message : undefined;
}
