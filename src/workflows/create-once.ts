import {
  ActivityFailure,
  CancellationScope,
  CancelledFailure,
  isCancellation,
  sleep,
  TimeoutFailure,
  uuid4,
} from '@temporalio/workflow';
import { byClockOf } from '../domain/clocks';
import { announcedIn, type SenderTrace, taskIdIn } from '../domain/create-heartbeat';
import {
  cancelledStep,
  type CreateOnceState,
  DEFAULT_START_LIMIT_MS,
  mayOwe,
  nextStep,
  sentAgain,
  type SettledCreate,
  type StepContext,
  withDebts,
} from '../domain/create-once';
import { type CreatePolicy } from '../domain/create-policy';
import { given } from '../domain/json';
import { type Labels } from '../domain/money';
import { ACTIVITY } from '../domain/names';
import {
  type CallFacts,
  type CreateVideoAnswer,
  evidence,
  noWorker,
  type ReconcileCreateInput,
} from '../domain/paid-call';
import { referenceModeOf, type VideoRequest } from '../domain/request';
import { CREATE_TIMEOUTS } from '../domain/timeouts';
import { type CallWait, callWait } from '../domain/video-state';
import { ancestry, inThisRun } from './creation-key';
import { queuesOf } from './handlers';
import { activity, createScheduleToCloseMs } from './proxies';
import { neverStarted, raceTimer, type StartWait } from './timers';

/** The request, the policy to follow, and how long {@link createOnce} tries to send the request. */
export interface CreateOnceOptions {
  /** The video to create. */
  readonly request: VideoRequest;
  /** Credential name, or `name@digest`. @default 'default' */
  readonly account?: string | undefined;
  /** Determines what a reply from the service proves about the create. @default the worker's policy */
  readonly policy?: CreatePolicy | undefined;
  /**
   * Whether to send nothing while a create with the same body and another key has an unknown outcome. @default false
   */
  readonly refuseWhileUnconfirmed?: boolean | undefined;
  /** Whether to send again after a refusal under this key. Set this only at a person's request. @default false */
  readonly again?: boolean | undefined;
  /** For whom or what the video is created. @default none */
  readonly labels?: Labels | undefined;
  /** Milliseconds that the create may wait before it is sent, counted from `state.startedAt`. */
  readonly startLimitMs: number;
  /** @default the create queue for the workflow's own queue */
  readonly taskQueue?: string | undefined;
  /** Called on every state change; feeds the queries. */
  readonly onState?: (state: CreateOnceState, wait: CallWait | null) => void;
  /** Called after every wait. If it returns true, this run ends here and the next run continues from the state. */
  readonly shouldHandOver?: () => boolean;
}

/**
 * How {@link createOnce} ended: with an answer and the number of sends, with a state for the next run, or with a
 * cancellation.
 */
export type CreateOnceResult =
  | { readonly kind: 'settled'; readonly answer: SettledCreate; readonly sends: number }
  | { readonly kind: 'handover'; readonly state: CreateOnceState }
  /**
   * Canceled while nothing was in flight. `mayBeOwed` is set if this run or another may have sent something under this
   * key and the outcome is unknown.
   */
  | { readonly kind: 'cancelled'; readonly mayBeOwed: boolean };

/**
 * Creates one video at most once per creation key (C4.4a, architecture: Create). The domain makes the decisions. This
 * function issues the commands: the create activity, raced by a timer; the reconciliation; and durable timers between
 * proven refusals.
 */
export async function createOnce(
  start: CreateOnceState,
  given: CreateOnceOptions,
): Promise<CreateOnceResult> {
  const options: Placed = { ...given, taskQueue: given.taskQueue ?? queuesOf(undefined).create };
  let state = inThisRun(start);
  for (;;) {
    // Stop before every send if the workflow was canceled.
    if (CancellationScope.current().consideredCancelled) return endCancelled(state, options);
    options.onState?.(state, null);
    const sent = await sendOnce(state, options);
    let { answer } = sent;
    let step = nextStep(state, answer, stepContext(options, sent.reconciled));
    if (step.do === 'reconcile') {
      const found = await CancellationScope.nonCancellable(() =>
        reconcileCreate(state, reconcileOptions(options), sent.answer, sent.trace),
      );
      // The send's evidence is more informative than a reconciliation that found nothing.
      answer = sent.answer.outcome === 'unconfirmed' && found.outcome === 'unconfirmed' ? sent.answer : found;
      step = nextStep(state, answer, stepContext(options, true));
    }
    if (step.do === 'settle') {
      const settled = withDebts(step.answer, state);
      const dropped = settled.outcome === 'rejected' && !settled.sent;
      if (dropped && CancellationScope.current().consideredCancelled)
        return { kind: 'cancelled', mayBeOwed: settled.mayBeOwed === true };
      return { kind: 'settled', answer: settled, sends: state.sends + (settled.sent ? 1 : 0) };
    }
    if (step.do === 'reconcile') throw new Error('media.reconcileCreate must not return "pending"');
    state = step.state;
    options.onState?.(state, callWait(step, answer));
    const wait = step.until - Date.now();
    if (wait > 0) {
      try {
        await sleep(wait, { summary: 'wait before the next create' });
      } catch (error) {
        if (isCancellation(error)) return endCancelled(state, options);
        throw error;
      }
    }
    if (options.shouldHandOver?.() === true) return { kind: 'handover', state };
  }
}

type Placed = CreateOnceOptions & { readonly taskQueue: string };

/**
 * Ends a create that was canceled before this run sent anything that counts. Another run may have recorded a task under
 * the key, so the create activity reads the record without sending, and the outcome reports a recorded task as a cost
 * that may be owed. Every run does this, even if it has already read the log. A run that was reset must replay the same
 * commands, and the earlier run may have bought something in the meantime.
 */
async function endCancelled(state: CreateOnceState, options: Placed): Promise<CreateOnceResult> {
  // A request that was sent may have been accepted despite the cancellation.
  if (state.unknown !== undefined) return { kind: 'settled', answer: state.unknown, sends: state.sends };
  // Sets no separate start limit. As after any cancellation, the wait for a worker is about a minute (ADR 5).
  const asking = { ...options, startLimitMs: 0, recordedOnly: true as const };
  return CancellationScope.nonCancellable(async () => {
    const asked = await raceCreate(state, asking);
    if (!('answer' in asked)) return { kind: 'cancelled', mayBeOwed: mayOwe(state) };
    const { answer, trace } = asked;
    const known =
      answer.outcome === 'pending'
        ? await reconcileCreate(state, reconcileOptions(asking), answer, trace)
        : answer;
    const step = cancelledStep(known, state);
    return step.do === 'settle'
      ? { kind: 'settled', answer: step.answer, sends: state.sends }
      : { kind: 'cancelled', mayBeOwed: step.mayBeOwed || state.mayBeOwed === true };
  });
}

function stepContext(options: Placed, reconciled: boolean): StepContext {
  return { now: Date.now(), random: Math.random(), startLimitMs: options.startLimitMs, reconciled };
}

/**
 * Runs one create, and one reconciliation if the create returned no value. A cancellation drops a create that no worker
 * has received yet. A create that a worker has received but not sent is settled as not sent, and a sent create
 * finishes. The reconciliation cannot be canceled.
 */
async function sendOnce(
  state: CreateOnceState,
  options: Placed,
): Promise<{ answer: CreateVideoAnswer; trace: SenderTrace; reconciled: boolean }> {
  const first = await raceCreate(state, options);
  const { trace } = first;
  if ('answer' in first) return { answer: first.answer, trace, reconciled: false };
  const answer = await CancellationScope.nonCancellable(() =>
    reconcileCreate(state, reconcileOptions(options), first, trace),
  );
  return { answer, trace, reconciled: true };
}

async function raceCreate(
  state: CreateOnceState,
  options: Placed & { readonly recordedOnly?: true },
): Promise<({ readonly answer: CreateVideoAnswer } | NoValue) & { readonly trace: SenderTrace }> {
  // The sender is part of the input, so that it stays the same in a run that was reset after the create.
  const sender = uuid4();
  const scheduledAt = new Date().toISOString();
  const startLimitMs = remainingStart(state, options);
  const create = activity(ACTIVITY.createVideo, {
    taskQueue: options.taskQueue,
    startLimitMs,
    summary: options.recordedOnly === true ? 'look up the record' : createSummary(state),
  });
  const wait = { since: Date.now(), limitMs: startLimitMs };
  const answered = create({
    creationKey: state.creationKey,
    sender,
    ...ancestry(),
    request: options.request,
    ...given({ account: options.account, policy: options.policy, labels: options.labels }),
    ...(options.refuseWhileUnconfirmed === true && { refuseWhileUnconfirmed: true }),
    ...(options.again === true && { again: true }),
    ...(options.recordedOnly === true && { recordedOnly: true }),
    ...given({ sameKey: sentAgain(state) }),
  }).then(
    (answer) => ({ answer: byClockOf(Date.now(), answer) }),
    (error: unknown) => noValue(error, wait),
  );
  const first = await raceTimer<{ answer: CreateVideoAnswer } | NoValue>(answered, {
    limitMs: createScheduleToCloseMs(startLimitMs) + CREATE_TIMEOUTS.raceMarginMs,
    // The reconciliation then reads the journal, which shows how long this sender may take.
    afterCancelMs: CREATE_TIMEOUTS.httpBudgetMs + CREATE_TIMEOUTS.raceMarginMs,
    summary: 'limit of the create',
  });
  const came = first === 'lost' ? NO_ANSWER : first;
  return { ...came, trace: senderTrace('answer' in came ? came.answer : came, { sender, scheduledAt }) };
}

function createSummary({ sends, tries }: CreateOnceState): string {
  const before = Math.max(sends, tries);
  return before === 0 ? 'create' : `create, attempt ${before + 1}`;
}

/**
 * Returns the remaining start limit. It is at least a minute, so that sending again after a long wait still finds a
 * worker.
 */
function remainingStart(state: CreateOnceState, options: CreateOnceOptions): number {
  return Math.max(60_000, state.startedAt + options.startLimitMs - Date.now());
}

function reconcileOptions({ request, taskQueue, account, policy }: Placed): ReconcileOptions {
  const facts = {
    model: request.model,
    durationSeconds: request.durationSeconds ?? null,
    resolution: request.resolution ?? null,
    referenceMode: referenceModeOf(request.references),
  };
  return { taskQueue, account, policy, facts };
}

/** How an activity ended without a value. `cause` is part of the evidence that a person reads. */
export interface NoValue {
  readonly cause: string;
  /** Whether no worker ever received the activity and the server can no longer start it (failure model: row 2). */
  readonly neverStarted: boolean;
  /** Details of the last heartbeat, or null if the server reported none. */
  readonly heartbeat: unknown;
}

/** The workflow's own timer fired first, so the last heartbeat is unknown. */
export const NO_ANSWER: NoValue = { cause: 'no_answer_in_time', neverStarted: false, heartbeat: null };

/** Classifies the failure of a create. Throws errors that are not activity failures. */
export function noValue(error: unknown, wait: StartWait): NoValue {
  if (!(error instanceof ActivityFailure)) throw error;
  const { cause } = error;
  // Because of WAIT_CANCELLATION_COMPLETED, only a create that no worker received is reported as canceled.
  if (cause instanceof CancelledFailure)
    return { cause: 'cancelled_before_start', neverStarted: true, heartbeat: null };
  if (!(cause instanceof TimeoutFailure))
    return { cause: 'activity_failed', neverStarted: false, heartbeat: null };
  const unseen = neverStarted(cause, wait);
  const heartbeat: unknown = cause.lastHeartbeatDetails ?? null;
  return { cause: unseen ? 'no_worker' : 'worker_lost', neverStarted: unseen, heartbeat };
}

/**
 * Returns what is known about a create that returned no answer or left its send open. If no worker received the
 * activity and none can receive it anymore, that proves that nothing was sent, no matter which journal the queue is
 * bound to later.
 * @param index the row's index in its group
 */
export function senderTrace(
  got: NoValue | CreateVideoAnswer,
  { sender, scheduledAt }: Pick<SenderTrace, 'sender' | 'scheduledAt'>,
  index?: number,
): SenderTrace {
  if ('outcome' in got) {
    const { announced = null, taskId } =
      got.outcome === 'pending' || got.outcome === 'unconfirmed' ? got : {};
    return { sender, announced, scheduledAt, ...given({ taskId }) };
  }
  const announced = announcedIn(got.heartbeat, index);
  const taskId = taskIdIn(got.heartbeat, index) ?? undefined;
  return { sender, announced, scheduledAt: got.neverStarted ? LATEST : scheduledAt, ...given({ taskId }) };
}

/** The latest time that a `Date` can represent. */
const LATEST = new Date(8.64e15).toISOString();

interface ReconcileOptions {
  readonly taskQueue: string;
  readonly account: string | undefined;
  readonly policy: CreatePolicy | undefined;
  /** Facts for the evidence if no worker could read the journal. */
  readonly facts: CallFacts;
}

/** Extracts what the reconciliation needs from an answer: the compared fingerprint, and what could not be recorded. */
function saidIn(got: CreateVideoAnswer): Pick<ReconcileCreateInput, 'fingerprint' | 'unrecorded'> {
  if (got.outcome !== 'pending' && got.outcome !== 'unconfirmed') return {};
  return {
    ...given({ fingerprint: got.fingerprint }),
    ...(got.outcome === 'pending' && given({ unrecorded: got.unrecorded })),
  };
}

/**
 * Reconciles a create that left its send open (failure model: The log).
 * @param got the reason that the create returned nothing, or its answer that another send is in flight or has an
 * unknown outcome
 */
export async function reconcileCreate(
  { creationKey }: Pick<CreateOnceState, 'creationKey'>,
  { taskQueue, account, policy, facts }: ReconcileOptions,
  got: NoValue | CreateVideoAnswer,
  trace: SenderTrace,
): Promise<CreateVideoAnswer> {
  const lost = 'outcome' in got ? null : got;
  const reconcile = activity(ACTIVITY.reconcileCreate, {
    taskQueue,
    // If no worker took the create, do not wait long for a worker again. After a possible send, the limit for unsent
    // creates does not apply, because a recorded task ID must not be abandoned when no worker is available.
    startLimitMs: lost?.neverStarted === true ? 60_000 : DEFAULT_START_LIMIT_MS,
    summary: 'reconcile',
  });
  try {
    const found = await reconcile({
      creationKey,
      ...ancestry(),
      trace,
      facts,
      ...given({ account, policy }),
      ...('outcome' in got && saidIn(got)),
    });
    return byClockOf(Date.now(), found);
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const common = { sendAttempt: 0, sent: false, account: account ?? null, estimate: null };
    if (lost?.neverStarted === true) {
      const unsent = {
        outcome: 'not_sent',
        cause: 'no_worker',
        sendAttemptUsed: false,
        permanent: true,
      } as const;
      return { ...common, ...unsent, message: noWorker(taskQueue) };
    }
    const known = { ...facts, account: account ?? null, ...given({ taskId: trace.taskId }) };
    const cause = lost?.cause ?? 'reconcile_failed';
    return { ...common, outcome: 'unconfirmed', evidence: evidence(cause, known) };
  }
}
