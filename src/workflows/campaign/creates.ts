import { uuid4 } from '@temporalio/workflow';
import { type BatchSettings } from '../../domain/campaign/batch-messages';
import { byClockOf } from '../../domain/clocks';
import { type SenderTrace } from '../../domain/create-heartbeat';
import {
  beginCreate,
  DEFAULT_START_LIMIT_MS,
  nextStep,
  sentAgain,
  withDebts,
  type CreateOnceState,
  type CreateStep,
} from '../../domain/create-once';
import { given } from '../../domain/json';
import { ACTIVITY, NOT_RECORDED } from '../../domain/names';
import { type CreateVideoAnswer } from '../../domain/paid-call';
import { CREATE_TIMEOUTS } from '../../domain/timeouts';
import { NO_ANSWER, noValue, type NoValue, reconcileCreate, senderTrace } from '../create-once';
import { ancestry, inThisRun } from '../creation-key';
import { activity, createScheduleToCloseMs } from '../proxies';
import { raceTimer } from '../timers';
import { creationKeyOf, isStarted, type Row } from './batch-rows';
import { type BatchWork, isBatchClosed } from './batch-work';

/** A row's next step: settled, to be retried at `until`, found to be unbought, or no longer allowed. */
type RowStep =
  | Exclude<CreateStep, { do: 'reconcile' }>
  | { readonly do: 'absent' }
  | { readonly do: 'closed' };

export interface RowAnswer {
  readonly step: RowStep;
  /** The answer that led to the step. A temporary refusal contains the earliest time for the next send. */
  readonly answer: CreateVideoAnswer;
}

/**
 * Sends one group of creates. Each row follows the rules of create-once and has its own log. If the whole group is
 * lost, each row is reconciled separately, so that only rows whose log contains an intent stay unconfirmed. Never
 * throws.
 * @param onRow called once for each row, as soon as its step is known
 */
export async function createRows(
  rows: readonly Row[],
  { input: { campaign, settings }, payer }: BatchWork,
  onRow: (row: Row, answer: RowAnswer) => void,
): Promise<void> {
  const states = rows.map(
    (row) => row.create ?? inThisRun(beginCreate(creationKeyOf(campaign, row), Date.now())),
  );
  // The sender is part of the input, so that it stays the same in a run that was reset after the creates.
  const sender = { sender: uuid4(), scheduledAt: new Date().toISOString() };
  const answers = await sendGroup(rows, states, settings, { payer, sender: sender.sender });
  const open: Promise<void>[] = [];
  // Create a promise only if there is something to await (docs/adr/0011).
  const known = rows.map((row, index) => {
    const state = states[index] as CreateOnceState;
    // A worker with a different version may return fewer answers. The outcome of the other rows is unknown.
    const got = 'lost' in answers ? answers.lost : (answers.all[index] ?? UNANSWERED);
    const step = 'outcome' in got ? stepOf(row, state, got, false) : undefined;
    if (step === undefined)
      open.push(
        reconciled(row, state, got, settings, senderTrace(got, sender, index)).then((answer) =>
          onRow(row, answer),
        ),
      );
    return step;
  });
  // Schedule all reconciliations before the first row continues, because histories contain their commands in this
  // order.
  rows.forEach((row, index) => {
    const step = known[index];
    if (step !== undefined) onRow(row, step);
  });
  await Promise.all(open);
}

const UNANSWERED: NoValue = { cause: 'activity_failed', neverStarted: false, heartbeat: null };

async function sendGroup(
  rows: readonly Row[],
  states: readonly CreateOnceState[],
  { account, policy, queues }: BatchSettings,
  from: { readonly payer: string; readonly sender: string },
): Promise<{ readonly all: readonly CreateVideoAnswer[] } | { readonly lost: NoValue }> {
  const create = activity(ACTIVITY.createVideos, {
    taskQueue: queues.create,
    startLimitMs: DEFAULT_START_LIMIT_MS,
    summary: `create ${rows.length}`,
  });
  const asked = rows.map((row, index) => {
    const state = states[index] as CreateOnceState;
    const again = sentAgain(state);
    return {
      page: { index: row.set.set.index, page: row.set.set.page },
      index: row.index,
      creationKey: state.creationKey,
      ...(again !== undefined ? { sameKey: again } : isStarted(row) && { recordedOnly: true as const }),
    };
  });
  const wait = { since: Date.now(), limitMs: DEFAULT_START_LIMIT_MS };
  const sent = create({
    rows: asked,
    ...from,
    ...ancestry(),
    ...given({ account, policy }),
  }).then(
    ({ answers }) => ({ all: answers.map((answer) => byClockOf(Date.now(), answer)) }),
    (error: unknown) => ({ lost: noValue(error, wait) }),
  );
  const first = await raceTimer<{ all: readonly CreateVideoAnswer[] } | { lost: NoValue }>(sent, {
    limitMs: createScheduleToCloseMs(DEFAULT_START_LIMIT_MS) + CREATE_TIMEOUTS.raceMarginMs,
    // The reconciliation then reads the journal, which shows how long each sender may take.
    afterCancelMs: CREATE_TIMEOUTS.httpBudgetMs + CREATE_TIMEOUTS.raceMarginMs,
    summary: 'limit of the creates',
  });
  // The SDK keeps an activity's arguments until the run ends (docs/adr/0011).
  asked.length = 0;
  return first === 'lost' ? { lost: NO_ANSWER } : first;
}

/** Returns the step that follows an answer, or undefined if the answer must be reconciled first. */
function stepOf(
  row: Row,
  state: CreateOnceState,
  answer: CreateVideoAnswer,
  isReconciled: boolean,
): RowAnswer | undefined {
  if (isBatchClosed(answer)) return { step: { do: 'closed' }, answer };
  if (isAbsent(row, answer)) return { step: { do: 'absent' }, answer };
  const step = nextStep(state, answer, {
    now: Date.now(),
    random: Math.random(),
    startLimitMs: DEFAULT_START_LIMIT_MS,
    reconciled: isReconciled,
    waitsForFix: true,
  });
  if (step.do === 'reconcile') return undefined;
  return { step: step.do === 'settle' ? { ...step, answer: withDebts(step.answer, state) } : step, answer };
}

async function reconciled(
  row: Row,
  state: CreateOnceState,
  got: CreateVideoAnswer | NoValue,
  settings: BatchSettings,
  trace: SenderTrace,
): Promise<RowAnswer> {
  const { model, durationSeconds, resolution, referenceMode } = row.spec;
  const { account, policy, queues } = settings;
  const options = {
    taskQueue: queues.create,
    account: row.spec.account ?? account,
    policy,
    facts: { model, durationSeconds, resolution, referenceMode },
  };
  const found = await reconcileCreate(state, options, got, trace);
  // The send's evidence is more informative than a reconciliation that found nothing.
  const keepsOwn = 'outcome' in got && got.outcome === 'unconfirmed' && found.outcome === 'unconfirmed';
  const step = stepOf(row, state, keepsOwn ? got : found, true);
  if (step === undefined) throw new Error('media.reconcileCreate must not return "pending"');
  return step;
}

/**
 * Whether the journal shows that an attempt from an earlier batch bought nothing. An answer from a worker that could
 * not read the journal proves nothing.
 */
function isAbsent(row: Row, answer: CreateVideoAnswer): boolean {
  if (!isStarted(row) || row.create?.unknown !== undefined) return false;
  if (answer.outcome === 'not_sent') return answer.cause === NOT_RECORDED;
  return answer.outcome === 'refused_for_now';
}
