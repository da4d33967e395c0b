import { CancellationScope, isCancellation, sleep, workflowInfo } from '@temporalio/workflow';
import { type CallWait, callWait } from '../domain/call-wait';
import {
  cancelledStep,
  isSentAgain,
  nextStep,
  withDebts,
  type CreateOnceState,
  type SettledCreate,
} from '../domain/create-once';
import { type CreatePolicy } from '../domain/create-policy';
import { referenceModeOf } from '../domain/media';
import { type SenderTrace } from '../domain/journal-proof';
import { RECORDED_BY_ANOTHER_RUN } from '../domain/names';
import { type CreateVideoAnswer } from '../domain/paid-call';
import { type VideoRequest } from '../domain/request';
import { CREATE_TIMEOUTS } from '../domain/timeouts';
import { queuesOf } from './inputs';
import { raceTimer } from './race-timer';
import { createScheduleToCloseMs, createVideoActivity } from './proxies';
import {
  NO_ANSWER,
  noValue,
  type NoValue,
  reconcileEpoch,
  type ReconcileOptions,
  senderTrace,
} from './reconcile-epoch';

export interface CreateOnceOptions {
  readonly request: VideoRequest;
  readonly account?: string | undefined;
  readonly policy?: CreatePolicy | undefined;
  readonly refuseWhileUnconfirmed?: boolean | undefined;
  readonly again?: boolean | undefined;
  /** Milliseconds that the create may wait unsent, counted from `state.startedAt`. */
  readonly startLimitMs: number;
  /** @default the create queue that a media worker serves beside the workflow's own */
  readonly taskQueue?: string | undefined;
  /** Told about every change, for queries. */
  readonly onState?: (state: CreateOnceState, wait: CallWait | null) => void;
  /** Asked before every wait: true ends this run here, and the next one goes on from the state. */
  readonly shouldHandOver?: () => boolean;
}

export type CreateOnceResult =
  | { readonly kind: 'settled'; readonly answer: SettledCreate; readonly sends: number }
  | { readonly kind: 'handover'; readonly state: CreateOnceState }
  /**
   * Cancelled while nothing was on its way. `mayBeOwed` when another run may have sent under this key and nobody could
   * be asked what it came to.
   */
  | { readonly kind: 'cancelled'; readonly mayBeOwed: boolean };

/**
 * Creates one video at most once for one creation key (C4.4a, architecture: Create). Decisions are the domain's; here are the
 * commands: the create activity raced by a timer, the reconciliation, and durable timers between proven refusals.
 */
export async function createOnce(
  start: CreateOnceState,
  given: CreateOnceOptions,
): Promise<CreateOnceResult> {
  const options: Placed = { ...given, taskQueue: given.taskQueue ?? queuesOf(undefined).create };
  let state = start;
  let elsewhere = isResetRun();
  for (;;) {
    // Before every epoch: what nobody wants any more is not bought.
    if (CancellationScope.current().consideredCancelled) return endCancelled(state, options, elsewhere);
    options.onState?.(state, null);
    const sent = await sendOnce(state, options);
    const recordedElsewhere =
      sent.answer.outcome === 'not_sent' && sent.answer.cause === RECORDED_BY_ANOTHER_RUN;
    let { answer } = sent;
    let step = nextStep(state, answer, stepContext(options, sent.reconciled));
    if (step.do === 'reconcile') {
      const found = await CancellationScope.nonCancellable(() =>
        reconcileEpoch(state, reconcileOptions(options), sent.answer, sent.senders),
      );
      // What the send itself left as evidence says more than a look that found nothing out.
      answer = sent.answer.outcome === 'unconfirmed' && found.outcome === 'unconfirmed' ? sent.answer : found;
      step = nextStep(state, answer, stepContext(options, true));
    }
    if (step.do === 'settle') {
      const settled = withDebts(step.answer, state);
      const dropped = settled.outcome === 'rejected' && !settled.sent;
      if (dropped && CancellationScope.current().consideredCancelled)
        return {
          kind: 'cancelled',
          mayBeOwed: settled.mayBeOwed === true || (elsewhere && settled.reason === 'not_sent'),
        };
      return { kind: 'settled', answer: settled, sends: state.sends + (settled.sent ? 1 : 0) };
    }
    if (step.do === 'reconcile') throw new Error('media.reconcileCreate answered "pending"');
    elsewhere ||= recordedElsewhere;
    state = step.state;
    options.onState?.(state, callWait(step, answer));
    const wait = step.until - Date.now();
    if (wait > 0) {
      try {
        await sleep(wait, { summary: 'wait before the next create' });
      } catch (error) {
        if (isCancellation(error)) return endCancelled(state, options, elsewhere);
        throw error;
      }
    }
    if (options.shouldHandOver?.() === true) return { kind: 'handover', state };
  }
}

type Placed = CreateOnceOptions & { readonly taskQueue: string };

/** Whether an operator reset this execution: an earlier run of it may have created under the same key. */
function isResetRun(): boolean {
  const { runId, originalExecutionRunId } = workflowInfo();
  return runId !== originalExecutionRunId;
}

/**
 * Cancelled before this run sent anything that counts. Where another run may have recorded a task under the key, the
 * create is asked for what is recorded, which sends nothing: the outcome names the task and never calls it free.
 */
async function endCancelled(
  state: CreateOnceState,
  options: Placed,
  elsewhere: boolean,
): Promise<CreateOnceResult> {
  // What was sent may have been accepted, whatever is no longer wanted.
  if (state.unknown !== undefined) return { kind: 'settled', answer: state.unknown, sends: state.sends };
  if (!elsewhere) return { kind: 'cancelled', mayBeOwed: state.mayBeOwed === true };
  // No limit of its own: a worker is waited for as long as after any cancellation (ADR 5), about a minute.
  const asking = { ...options, startLimitMs: 0, recordedOnly: true as const };
  return CancellationScope.nonCancellable(async () => {
    for (let epoch = state.epoch; ;) {
      const asked = await raceCreate({ ...state, epoch }, asking);
      if (!('answer' in asked)) return { kind: 'cancelled', mayBeOwed: true };
      const { answer } = asked;
      const pending = answer.outcome === 'pending';
      const step = cancelledStep(
        pending
          ? await reconcileEpoch(
              { ...state, epoch: answer.epoch },
              reconcileOptions(asking),
              answer,
              asked.senders,
            )
          : answer,
      );
      if (step.do === 'settle') return { kind: 'settled', answer: step.answer, sends: state.sends };
      if (step.do === 'end')
        return { kind: 'cancelled', mayBeOwed: step.mayBeOwed || state.mayBeOwed === true };
      epoch = step.epoch;
    }
  });
}

function stepContext(
  options: Placed,
  reconciled: boolean,
): { now: number; random: number; startLimitMs: number; reconciled: boolean } {
  return { now: Date.now(), random: Math.random(), startLimitMs: options.startLimitMs, reconciled };
}

/**
 * One epoch: the create, and after anything that is not a recorded value one reconciliation. A cancellation reaches the
 * create: one that no worker has yet is dropped, one before its send settles as not sent, and one after it is finished.
 * The reconciliation is sheltered.
 */
async function sendOnce(
  state: CreateOnceState,
  options: Placed,
): Promise<{ answer: CreateVideoAnswer; senders: SenderTrace; reconciled: boolean }> {
  const first = await raceCreate(state, options);
  const { senders } = first;
  if ('answer' in first) return { answer: first.answer, senders, reconciled: false };
  const answer = await CancellationScope.nonCancellable(() =>
    reconcileEpoch(state, reconcileOptions(options), first, senders),
  );
  return { answer, senders, reconciled: true };
}

async function raceCreate(
  state: CreateOnceState,
  options: Placed & { readonly recordedOnly?: true },
): Promise<({ readonly answer: CreateVideoAnswer } | NoValue) & { readonly senders: SenderTrace }> {
  const scheduledAt = new Date().toISOString();
  const startLimitMs = remainingStart(state, options);
  const create = createVideoActivity({
    taskQueue: options.taskQueue,
    startLimitMs,
    summary: `${options.recordedOnly === true ? 'what is recorded' : 'create'}, epoch ${state.epoch}`,
  });
  const wait = { since: Date.now(), limitMs: startLimitMs };
  const answered = create({
    creationKey: state.creationKey,
    epoch: state.epoch,
    request: options.request,
    ...(options.account === undefined ? {} : { account: options.account }),
    ...(options.policy === undefined ? {} : { policy: options.policy }),
    ...(options.refuseWhileUnconfirmed === true && { refuseWhileUnconfirmed: true }),
    ...(options.again === true && { again: true }),
    ...(options.recordedOnly === true && { recordedOnly: true }),
    ...(isSentAgain(state) && { sameKey: true }),
  }).then(
    (answer) => ({ answer }),
    (error: unknown) => noValue(error, wait),
  );
  const first = await raceTimer<{ answer: CreateVideoAnswer } | NoValue>(answered, {
    limitMs: createScheduleToCloseMs(startLimitMs) + CREATE_TIMEOUTS.raceMarginMs,
    // Then the journal is asked, which knows how long this sender may take.
    afterCancelMs: CREATE_TIMEOUTS.httpBudgetMs + CREATE_TIMEOUTS.raceMarginMs,
    summary: 'limit of the create',
  });
  const came = first === 'lost' ? NO_ANSWER : first;
  return { ...came, senders: senderTrace('answer' in came ? came.answer : came, scheduledAt) };
}

/** What is left of the start limit; at least a minute, so that a re-send after a long wait still finds a worker. */
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
