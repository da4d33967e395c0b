import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  isCancellation,
  setCurrentDetails,
  setWorkflowOptions,
  sleep,
  TimeoutFailure,
} from '@temporalio/workflow';
import { byClockOf } from '../domain/clocks';
import {
  afterImage,
  beginCreate,
  DEFAULT_START_LIMIT_MS,
  mayOwe,
  type CreateOnceState,
} from '../domain/create-once';
import { given } from '../domain/json';
import { billing } from '../domain/money';
import { ACTIVITY, RETRY_LATER, UNSAFE_RETRIES, UNSAFE_RETRY_POLICY } from '../domain/names';
import { type ImageOutcome, outcomes } from '../domain/outcome';
import { evidence, noWorker, type NotSent, type WaitingImage } from '../domain/paid-call';
import { type ImageEditRequest } from '../domain/request';
import { milliseconds, type Shape } from '../domain/shape';
import { CREATE_TIMEOUTS, IMAGE_TIMEOUTS, imageScheduleToCloseMs } from '../domain/timeouts';
import { type CallWait, callWait, imageDetails } from '../domain/video-state';
import {
  IMAGE_WORKFLOW_SHAPE,
  type EditImageWorkflowInput,
  type GenerateImageWorkflowInput,
} from '../domain/workflow-inputs';
import { ancestry, creationKey, inThisRun } from './creation-key';
import { inputIssue, onQuery, queuesOf, waitsQuery } from './handlers';
import { activity } from './proxies';
import { isUntaken, neverStarted, raceTimer, type StartWait } from './timers';
import { PINNED, recordFacts } from './workflow-metadata';

/** The activity's task queue, or the reason that there is none, and the required shape of the input. */
export type ImagePlace = ({ readonly taskQueue: string } | { readonly refused: string }) & {
  readonly shape: Shape;
  readonly onState?: (creationKey: string, wait: CallWait | null) => void;
};

/**
 * Runs one image activity under its own key. A cancellation drops a call that no worker has received yet. A call that
 * was sent finishes, because an aborted exchange is charged anyway. Never throws: if the worker is lost, the outcome is
 * `unconfirmed`.
 */
export async function imageCall(
  operation: 'generate_image' | 'edit_image',
  input: GenerateImageWorkflowInput | EditImageWorkflowInput,
  { onState, ...place }: ImagePlace,
): Promise<ImageOutcome> {
  const issue = inputIssue(input, place.shape);
  if (issue !== undefined)
    return outcomes.refusedBeforeSend('invalid_request', issue.message, issue.field, issue.allowed);
  if ('refused' in place) return outcomes.refusedBeforeSend('invalid_request', place.refused, 'taskQueue');
  const { taskQueue } = place;
  const own = creationKey(input.creationKey);
  if ('refused' in own)
    return outcomes.refusedBeforeSend('creation_key_required', own.refused, 'creationKey');
  onState?.(own.key, null);
  const begun = inThisRun(beginCreate(own.key, Date.now()));
  if (CancellationScope.current().consideredCancelled)
    return outcomes.cancelled(null, own.key, billing(null, owedState(begun)));
  const limit = milliseconds(input.startLimit ?? DEFAULT_START_LIMIT_MS) ?? DEFAULT_START_LIMIT_MS;
  // 0 would mean "no limit" to the server.
  const startLimitMs = Math.max(1000, limit);
  const call = {
    creationKey: own.key,
    ...ancestry(),
    waits: true as const,
    ...given({ account: input.account, policy: input.policy, labels: input.labels }),
    ...(input.refuseWhileUnconfirmed === true && { refuseWhileUnconfirmed: true }),
    ...(input.again === true && { again: true }),
  };
  const facts = { model: input.request.model, account: input.account ?? null };
  for (let state = begun; ;) {
    const leftMs = Math.max(60_000, state.startedAt + startLimitMs - Date.now());
    const limitMs = state.waits === 0 ? startLimitMs : leftMs;
    const run: RunImage = (ms, summary, recordedSince) => {
      const placement = { taskQueue, startLimitMs: ms, summary };
      const asked = { ...call, ...given({ recordedSince }) };
      return operation === 'generate_image'
        ? activity(ACTIVITY.generateImage, placement)({ ...asked, request: input.request })
        : activity(ACTIVITY.editImage, placement)({ ...asked, request: input.request as ImageEditRequest });
    };
    const awaited = { creationKey: own.key, taskQueue, startLimitMs: limitMs, facts };
    const got = await imageOf(run, { ...awaited, summary: operation.replace('_', ' ') });
    if (!isWaitingImage(got)) return got;
    const step = afterImage(state, got, { now: Date.now(), random: Math.random(), startLimitMs });
    if ('outcome' in step) return step;
    state = step.state;
    onState?.(own.key, callWait(step, got));
    try {
      await sleep(step.until - Date.now(), { summary: 'wait before the next call' });
    } catch (error) {
      if (!isCancellation(error)) throw error;
      return outcomes.cancelled(null, own.key, billing(null, owedState(state)));
    }
    onState?.(own.key, null);
  }
}

export function isWaitingImage(got: ImageOutcome | WaitingImage): got is WaitingImage {
  return 'sent' in got;
}

function owedState(state: CreateOnceState): 'none' | 'needs_review' {
  return mayOwe(state) ? 'needs_review' : 'none';
}

/** Schedules one image activity. If `recordedSince` is set in its input, the activity sends nothing. */
export type RunImage = (
  startLimitMs: number,
  summary: string,
  recordedSince?: string,
) => Promise<ImageOutcome | WaitingImage>;

interface AwaitedImage {
  readonly creationKey: string;
  readonly taskQueue: string;
  readonly startLimitMs: number;
  readonly summary: string;
  /** Facts for the evidence if no worker answers. */
  readonly facts: { readonly model: string; readonly account: string | null };
}

/** Returns an image activity's result, raced by a timer. Does not throw if the worker is lost. */
export async function imageOf(run: RunImage, awaited: AwaitedImage): Promise<ImageOutcome | WaitingImage> {
  const { startLimitMs, summary } = awaited;
  const wait = { since: Date.now(), limitMs: startLimitMs };
  try {
    const outcome = await raced(run(startLimitMs, summary), startLimitMs);
    return outcome === 'lost'
      ? unconfirmedImage('no_answer_in_time', awaited)
      : byClockOf(Date.now(), outcome);
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    // The limit may have been exceeded only because no worker was running this workflow, so the call may have been
    // sent.
    if (isUntaken(error.cause) && !neverStarted(error.cause, wait)) return recordedImage(run, awaited, wait);
    return ofLostActivity(error, awaited, wait);
  }
}

/** Reads the journal if the server cannot say whether a worker ever had a call. Sends nothing. */
async function recordedImage(
  run: RunImage,
  awaited: AwaitedImage,
  { since }: StartWait,
): Promise<ImageOutcome> {
  // As with a video that may have been sent, do not abandon a possibly paid call only because no worker is available.
  const limitMs = DEFAULT_START_LIMIT_MS;
  try {
    const found = await raced(run(limitMs, 'look up the record', new Date(since).toISOString()), limitMs);
    if (found === 'lost' || isWaitingImage(found)) return unconfirmedImage('worker_lost', awaited);
    const isUnsent = found.outcome === 'rejected' && found.reason === 'not_sent';
    return isUnsent ? { ...found, message: noWorker(awaited.taskQueue) } : found;
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return unconfirmedImage('worker_lost', awaited);
  }
}

function raced<Got>(work: Promise<Got>, startLimitMs: number): Promise<Got | 'lost'> {
  return raceTimer(work, {
    limitMs: imageScheduleToCloseMs(startLimitMs) + CREATE_TIMEOUTS.raceMarginMs,
    afterCancelMs: IMAGE_TIMEOUTS.startToCloseMs + CREATE_TIMEOUTS.raceMarginMs,
    summary: 'limit of the image call',
  });
}

function ofLostActivity(
  error: ActivityFailure,
  awaited: AwaitedImage,
  wait: StartWait,
): ImageOutcome | NotSent {
  const { cause } = error;
  const key = awaited.creationKey;
  // An earlier attempt may have been sent, so a dropped call may still have cost money.
  if (cause instanceof CancelledFailure) return outcomes.cancelled(null, key, billing(null, 'needs_review'));
  // The call was canceled between two attempts, and the service accepted no attempt.
  const details = detailsOf(cause, RETRY_LATER);
  if (CancellationScope.current().consideredCancelled && PROVEN_REFUSALS.includes(details?.class))
    return outcomes.cancelled(
      null,
      key,
      billing(null, details?.mayBeOwed === true ? 'needs_review' : 'none'),
    );
  const untaken = neverStarted(cause, wait);
  const refusal = untaken ? noWorker(awaited.taskQueue) : refusedWithoutJournal(cause);
  if (refusal !== undefined)
    return {
      outcome: 'not_sent',
      sendAttempt: 0,
      sent: false,
      sendAttemptUsed: false,
      account: awaited.facts.account,
      estimate: null,
      permanent: true,
      message: refusal,
      ...(untaken ? { cause: 'no_worker' } : { cause: UNSAFE_RETRIES, reason: UNSAFE_RETRIES }),
    };
  return unconfirmedImage(cause instanceof TimeoutFailure ? 'worker_lost' : 'activity_failed', awaited);
}

/** Failure classes after which the journal proves that nothing was accepted under the call's key. */
const PROVEN_REFUSALS: readonly unknown[] = [
  'refused_for_now',
  'worker_shutdown',
  'server_not_notified',
  'own_deadline',
];

function unconfirmedImage(cause: string, { creationKey: key, facts }: AwaitedImage): ImageOutcome {
  const { account } = facts;
  const unknown = { outcome: 'unconfirmed', sendAttempt: 0, sent: true, account, estimate: null } as const;
  return outcomes.unconfirmed({ ...unknown, evidence: evidence(cause, facts) }, key);
}

/** Returns the message if a worker without a journal refused the first attempt. Nothing was sent. */
function refusedWithoutJournal(cause: unknown): string | undefined {
  return detailsOf(cause, UNSAFE_RETRY_POLICY)?.attempt === 1 ? (cause as Error).message : undefined;
}

interface FailureDetails {
  readonly class?: unknown;
  readonly attempt?: unknown;
  readonly mayBeOwed?: unknown;
}

/** Returns the details of an `ApplicationFailure` of this type; undefined for any other failure. */
function detailsOf(cause: unknown, type: string): FailureDetails | undefined {
  return cause instanceof ApplicationFailure && cause.type === type
    ? (cause.details?.[0] as FailureDetails | undefined)
    : undefined;
}

/** Generates images with one activity, for callers without a workflow (contract 2.3, architecture: Images). */
export async function generateImage(input: GenerateImageWorkflowInput): Promise<ImageOutcome> {
  return shownImageCall('generate_image', input);
}

/** Edits images with one activity, for callers without a workflow (contract 2.4, architecture: Images). */
export async function editImage(input: EditImageWorkflowInput): Promise<ImageOutcome> {
  return shownImageCall('edit_image', input);
}

/** Used only by this package's workflows, because the details panel of a caller's workflow belongs to the caller. */
async function shownImageCall(
  operation: 'generate_image' | 'edit_image',
  input: GenerateImageWorkflowInput | EditImageWorkflowInput,
): Promise<ImageOutcome> {
  let key: string | null = null;
  let wait: CallWait | null = null;
  onQuery(waitsQuery, () => (wait === null ? [] : [wait]));
  const outcome = await imageCall(operation, input, {
    taskQueue: queuesOf(input?.queues).image,
    shape: IMAGE_WORKFLOW_SHAPE,
    onState: (own, now) => {
      key = own;
      wait = now;
      setCurrentDetails(imageDetails(key, null, wait));
    },
  });
  setCurrentDetails(imageDetails(key, outcome));
  recordFacts({ outcome: outcome.outcome });
  return outcome;
}

setWorkflowOptions(PINNED, generateImage);
setWorkflowOptions(PINNED, editImage);
