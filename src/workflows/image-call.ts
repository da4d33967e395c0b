import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  TimeoutFailure,
} from '@temporalio/workflow';
import { billing } from '../domain/billing';
import { DEFAULT_START_LIMIT_MS } from '../domain/create-once';
import { evidence, NO_WORKER } from '../domain/evidence';
import { ACTIVITY, RETRY_LATER, UNSAFE_RETRY_POLICY } from '../domain/names';
import { type ImageOutcome } from '../domain/outcome';
import { outcomes } from '../domain/outcomes';
import { type ImageEditRequest } from '../domain/request';
import { CREATE_TIMEOUTS } from '../domain/timeouts';
import { type EditImageWorkflowInput, type GenerateImageWorkflowInput } from '../domain/workflow-inputs';
import { creationKey } from './creation-key';
import { isRequest, milliseconds } from './inputs';
import { imageActivities, imageScheduleToCloseMs } from './proxies';
import { raceTimer } from './race-timer';

/**
 * One image activity with a key of its own. A cancellation drops a call that no worker has yet and lets one that was
 * sent finish: a paid exchange that is cut off is paid all the same. Never throws: a lost worker becomes `unconfirmed`.
 */
export async function imageCall(
  operation: 'generate_image' | 'edit_image',
  input: GenerateImageWorkflowInput | EditImageWorkflowInput,
): Promise<ImageOutcome> {
  if (!isRequest(input?.request))
    return outcomes.refusedBeforeSend('invalid_request', 'The request must be an object.', 'request');
  const own = creationKey(input.creationKey);
  if ('refused' in own)
    return outcomes.refusedBeforeSend('creation_key_required', own.refused, 'creationKey');
  if (CancellationScope.current().consideredCancelled)
    return outcomes.cancelled(null, own.key, billing(null, 'none'));
  const asked = milliseconds(input.startLimit ?? DEFAULT_START_LIMIT_MS) ?? DEFAULT_START_LIMIT_MS;
  // 0 would mean "no limit" to the server.
  const startLimitMs = Math.max(1000, asked);
  const activities = imageActivities({
    taskQueue: input.queues?.image,
    startLimitMs,
    summary: operation.replace('_', ' '),
  });
  const call = {
    creationKey: own.key,
    epoch: 0,
    ...(input.account === undefined ? {} : { account: input.account }),
    ...(input.policy === undefined ? {} : { policy: input.policy }),
  };
  const work =
    operation === 'generate_image'
      ? activities[ACTIVITY.generateImage]({ ...call, request: input.request })
      : activities[ACTIVITY.editImage]({ ...call, request: input.request as ImageEditRequest });
  try {
    const limit = imageScheduleToCloseMs(startLimitMs) + CREATE_TIMEOUTS.raceMarginMs;
    const outcome = await raceTimer(work, limit, 'limit of the image call');
    return outcome === 'lost' ? unconfirmedImage('no_answer_in_time', own.key, input) : outcome;
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return ofLostActivity(error, own.key, input);
  }
}

function ofLostActivity(
  error: ActivityFailure,
  key: string,
  input: GenerateImageWorkflowInput | EditImageWorkflowInput,
): ImageOutcome {
  const { cause } = error;
  const common = { epoch: 0, account: input.account ?? null, estimate: null };
  // An earlier attempt may have been sent; only a dropped call of which nobody knows an attempt costs nothing for sure.
  if (cause instanceof CancelledFailure) {
    return outcomes.cancelled(null, key, billing(null, 'needs_review'));
  }
  // Cancelled between two attempts of which none was accepted.
  if (CancellationScope.current().consideredCancelled && isProvenRefusal(cause)) {
    return outcomes.cancelled(null, key, billing(null, 'none'));
  }
  if (neverStarted(cause)) {
    return outcomes.rejected(
      { ...common, outcome: 'rejected', sent: false, reason: 'not_sent', message: NO_WORKER },
      key,
      0,
    );
  }
  const refusal = refusedWithoutJournal(cause);
  if (refusal !== undefined) {
    const reason = 'unsafe_retry_policy';
    return outcomes.rejected(
      { ...common, outcome: 'rejected', sent: false, reason, message: refusal },
      key,
      0,
    );
  }
  return unconfirmedImage(cause instanceof TimeoutFailure ? 'worker_lost' : 'activity_failed', key, input);
}

/** Classes of a failed attempt after which the journal proves for its key that nothing was accepted. */
const PROVEN_REFUSALS: readonly unknown[] = ['refused_for_now', 'worker_shutdown', 'own_deadline'];

function isProvenRefusal(cause: unknown): boolean {
  if (!(cause instanceof ApplicationFailure) || cause.type !== RETRY_LATER) return false;
  const [details] = (cause.details ?? []) as [{ readonly class?: unknown }?];
  return PROVEN_REFUSALS.includes(details?.class);
}

/**
 * The limit holds for every attempt: a cause below it is an attempt that was lost, and perhaps after its send. The
 * converter drops the cause of a timeout, so that it can be seen in the failure as the server wrote it only.
 */
function neverStarted(cause: unknown): boolean {
  if (!(cause instanceof TimeoutFailure) || cause.timeoutType !== 'SCHEDULE_TO_START') return false;
  return (cause.failure?.cause ?? undefined) === undefined;
}

function unconfirmedImage(
  cause: string,
  key: string,
  { request, account }: GenerateImageWorkflowInput | EditImageWorkflowInput,
): ImageOutcome {
  const known = evidence(cause, { model: request.model, account: account ?? null });
  return outcomes.unconfirmed(
    {
      outcome: 'unconfirmed',
      epoch: 0,
      sent: true,
      account: account ?? null,
      estimate: null,
      evidence: known,
    },
    key,
  );
}

/** The message of a first attempt that a worker without a journal refused: nothing was sent. */
function refusedWithoutJournal(cause: unknown): string | undefined {
  if (!(cause instanceof ApplicationFailure) || cause.type !== UNSAFE_RETRY_POLICY) return undefined;
  const [details] = (cause.details ?? []) as [{ readonly attempt?: number }?];
  return details?.attempt === 1 ? cause.message : undefined;
}

/** Generates images: one activity, for callers that have no workflow of their own (contract 2.3, design 4.8). */
export async function generateImage(input: GenerateImageWorkflowInput): Promise<ImageOutcome> {
  return imageCall('generate_image', input);
}

/** Edits images: one activity, for callers that have no workflow of their own (contract 2.4, design 4.8). */
export async function editImage(input: EditImageWorkflowInput): Promise<ImageOutcome> {
  return imageCall('edit_image', input);
}
