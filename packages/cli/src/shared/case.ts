import {
  type Billing,
  type CallWait,
  type DecidedEntry,
  type ImageOutcome,
  type Money,
  type ServiceView,
  type VideoOutcome,
  type VideoState,
  type VideoTask,
} from 'temporal-media';
import { adviceOnDecision } from 'temporal-media/internal/client/resume-video';
import {
  type Advice,
  type AdviceValues,
  situation,
  type SituationName,
  SITUATIONS,
  type Step,
  type Word,
} from 'temporal-media/internal/domain/advice';
import { campaignOfBatch } from 'temporal-media/internal/domain/campaign/budget-book';
import { decisionInForce } from 'temporal-media/internal/domain/closed-call';
import { failureRow } from 'temporal-media/internal/domain/failure-table';
import { billedFor, mayBeOwed, type Send } from 'temporal-media/internal/domain/log-entries';
import {
  isImageWorkflow,
  isMediaWorkflow,
  isOpen,
  PAUSED,
  WORKFLOW,
} from 'temporal-media/internal/domain/names';

/** A workflow execution, as commands show it. */
export interface ExecutionView {
  readonly workflowId: string;
  readonly runId: string;
  readonly type: string;
  /** Temporal's status: RUNNING, COMPLETED, FAILED, CANCELLED, TERMINATED, CONTINUED_AS_NEW, TIMED_OUT … */
  readonly status: string;
  readonly taskQueue: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly closedAt: string | null;
  readonly historyLength: number;
  readonly pendingActivities: readonly OpenActivity[];
  /** Null if nobody has paused the workflow itself. */
  readonly pause: OperatorPause | null;
  /** Link to the web UI; null if unknown. */
  readonly url: string | null;
}

/** An activity that is running or waiting for its next attempt. */
export interface OpenActivity {
  readonly type: string;
  readonly activityId: string;
  readonly attempt: number;
  readonly lastFailure: string | null;
  /** Machine-readable cause of the failure: `storage`, `MediaJournalUnavailable`, … */
  readonly failureClass: string | null;
  /** Null if nobody has paused the activity. */
  readonly pause: OperatorPause | null;
  /** Set if the call waits to be sent: see {@link CallWait}. Null for any other failure. */
  readonly waits: Pick<CallWait, 'reason' | 'account'> | null;
  /** The task queue on which it waits for a worker; null while a worker has it, or if the server does not say. */
  readonly queuedOn: string | null;
}

/** A pause in Temporal, by a person or by a rule of the namespace. */
export interface OperatorPause {
  /** Client identity of the person, or the rule's id; null if the server does not report it. */
  readonly by: string | null;
  /** ISO 8601; null if the server does not report it. */
  readonly at: string | null;
  readonly reason: string | null;
  /** Whether the current attempt is still running. The pause starts when it ends without a result. */
  readonly isRequested: boolean;
}

/** An image call that an activity without a workflow runs. */
export interface StandaloneCall extends OpenActivity {
  readonly runId: string;
  /** Temporal's status: RUNNING, PAUSED, COMPLETED, FAILED, CANCELED, TERMINATED or TIMED_OUT. */
  readonly status: string;
  readonly taskQueue: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly closedAt: string | null;
  /** ISO 8601 time of the next attempt; null if none is scheduled. */
  readonly nextAttemptAt: string | null;
}

/** A paid call made by one of the user's own workflows. */
export interface OwnCall {
  /** Type of the child workflow or activity. */
  readonly type: string;
  /** Id of the child workflow or activity. */
  readonly id: string;
  readonly state: 'open' | 'completed' | 'failed' | 'cancelled';
}

/** Everything known about a paid call, regardless of the kind of id used to look it up. */
export interface CaseFacts {
  readonly id: string;
  readonly foundBy: 'workflow_id' | 'activity_id' | 'journal' | 'visibility' | 'service';
  /** The workflow that handles the call, or the last one that did. */
  readonly workflow: ExecutionView | null;
  /** The activity without a workflow that handles the call, or the last one that did. Then `workflow` is null. */
  readonly activity: StandaloneCall | null;
  readonly otherWorkflows: readonly ExecutionView[];
  /** Earlier run ids of the same workflow id, newest first. `replay --run-id` shows one of them. */
  readonly earlierRuns: readonly string[];
  readonly video: VideoTask | null;
  readonly creationKey: string | null;
  readonly state: VideoState | null;
  readonly outcome: VideoOutcome | ImageOutcome | null;
  /** Cost according to the price rule; null if unknown. */
  readonly estimate: Money | null;
  readonly service: ServiceView | null;
  /** People's decisions about its sends, oldest first. */
  readonly decisions: readonly DecidedEntry[];
  /** Paid calls made by the workflow, if it is one of the user's own. */
  readonly calls: readonly OwnCall[];
  /** Why the workflow cannot continue even though nobody has paused it; null if nothing is known to block it. */
  readonly held: string | null;
  /** Whether a worker polls the workflow's task queue; null if unknown. */
  readonly hasWorker: boolean | null;
  /** A task queue on which one of its activities waits and that no worker polls; null if there is none. */
  readonly unserved: string | null;
}

const VIDEOS: ReadonlySet<string> = new Set([WORKFLOW.generateVideo, WORKFLOW.awaitVideo]);

type Typed = Pick<ExecutionView, 'type'>;

export const isVideoCall = ({ type }: Typed): boolean => VIDEOS.has(type);

export const isPaidCall = ({ type }: Typed): boolean => VIDEOS.has(type) || isImageWorkflow(type);

/** Whether a workflow is still open. */
export const goesOn = (workflow: ExecutionView | null): boolean =>
  workflow !== null && isOpen(workflow.status);

export interface CaseMoney {
  readonly state: Billing['state'];
  readonly estimate: Money | null;
  /** What the bills of all sends under the creation key add up to; null if none is known here. */
  readonly actual: Money | null;
}

/** Returns the sum of all bills of a key's sends; null without a bill, or with bills in several currencies. */
function billedTotal(sends: readonly Send[]): Money | null {
  const bills = sends.flatMap((send) => billedFor(send) ?? []);
  const [first] = bills;
  if (first === undefined || bills.some(({ currency }) => currency !== first.currency)) return null;
  return { microUnits: bills.reduce((sum, bill) => sum + bill.microUnits, 0), currency: first.currency };
}

/**
 * Returns the amount owed, or null if nothing is known about a send. A reservation ends when the wait for its task
 * ends. A call that may have been sent is under review until an outcome settles it.
 * @param sends those of the call's creation key, if this machine can read the journal
 */
export function caseMoney(
  { outcome, state, video, workflow, estimate }: CaseFacts,
  sends: readonly Send[] = [],
): CaseMoney | null {
  const amounts = { estimate, actual: billedTotal(sends) };
  if (outcome !== null) return sinceOutcome(outcome.billing, amounts, sends);
  if (workflow !== null && !isPaidCall(workflow)) return null;
  const isReserved = workflow !== null && isOpen(workflow.status) && video !== null;
  if (isReserved) return { state: 'reserved', ...amounts };
  // Another run under this id may owe money, so a call is not reported as free before it has an outcome.
  const isUnsent = video === null && state?.phase === 'waiting_to_create';
  return isUnsent ? null : { state: 'needs_review', ...amounts };
}

/** Adds the bills of the journal to an outcome's billing. They may be newer, and this machine may have no journal. */
function sinceOutcome(
  { state, actual, currency }: Billing,
  { estimate, actual: billed }: Pick<CaseMoney, 'estimate' | 'actual'>,
  sends: readonly Send[],
): CaseMoney {
  const reported = actual === null || currency === null ? null : { microUnits: actual, currency };
  const isBilled = sends.some(mayBeOwed) && sends.every((send) => send.bill !== null || !mayBeOwed(send));
  const hasEnded = state === 'estimated' || state === 'needs_review';
  return { state: isBilled && hasEnded ? 'settled' : state, estimate, actual: billed ?? reported };
}

/**
 * Returns the advice on what is safe to do, which all commands use. Following it never causes a second purchase, and
 * the advice never asks for a decision that has already been made.
 * @param word quotes a word for the current shell
 */
export function adviceOf(facts: CaseFacts, word: Word): Advice {
  const { workflow, activity } = facts;
  if (workflow !== null && isOpen(workflow.status)) return whileOpen(facts, workflow, word);
  if (activity !== null && isOpen(activity.status)) return whileStandalone(facts, activity, word);
  if (workflow !== null && !isMediaWorkflow(workflow.type)) return situation('own_ended');
  if (workflow?.type === WORKFLOW.campaignBatch)
    return situation('batch_ended', { ID: campaignOfBatch(workflow.workflowId) }, word);
  return afterwards(facts, word);
}

/** Failures that waiting does not fix, because the workers' artifact store or journal causes them. */
const STORE_FAILURES: ReadonlySet<string> = new Set([
  'storage',
  'MediaJournalUnavailable',
  'journal_unavailable',
  'journal_not_bound',
]);

function whileOpen(
  { state, held, hasWorker, unserved, calls, creationKey }: CaseFacts,
  { workflowId, status, type, taskQueue, pendingActivities }: ExecutionView,
  word: Word,
): Advice {
  const workflow = { ID: workflowId, QUEUE: taskQueue };
  if (status === PAUSED) return situation('paused', workflow, word);
  if (held !== null) return { step: 'mend', text: held };
  const paused = pendingActivities.find((activity) => activity.pause !== null);
  if (paused !== undefined) {
    const activity = { ACTIVITY: paused.type, NUMBER: paused.activityId };
    return situation('activity_paused', { ...workflow, ...activity }, word);
  }
  const broken = brokenStore(pendingActivities, workflow, word);
  if (broken !== undefined) return broken;
  if (hasWorker === false || unserved !== null)
    return situation('no_worker', { QUEUE: unserved ?? taskQueue }, word);
  if (type === WORKFLOW.runCampaign) return situation('campaign', workflow, word);
  if (type === WORKFLOW.campaignBatch)
    return situation('batch_open', { ID: campaignOfBatch(workflowId) }, word);
  if (state !== null) return situation(...videoSituation({ ...state, creationKey }), word);
  if (isImageWorkflow(type)) return situation('image');
  return situation(calls.length > 0 ? 'own_open' : 'open');
}

function whileStandalone({ unserved }: CaseFacts, activity: StandaloneCall, word: Word): Advice {
  const values = { ID: activity.activityId, QUEUE: activity.taskQueue };
  if (activity.pause !== null) return situation('standalone_paused', values, word);
  const broken = brokenStore([activity], values, word);
  if (broken !== undefined) return broken;
  if (unserved !== null) return situation('no_worker', { QUEUE: unserved }, word);
  return situation('image');
}

function brokenStore(
  activities: readonly OpenActivity[],
  values: AdviceValues,
  word: Word,
): Advice | undefined {
  const broken = activities.find(({ failureClass }) => STORE_FAILURES.has(failureClass ?? ''));
  if (broken === undefined) return undefined;
  const why = { ACTIVITY: broken.type, WHY: broken.lastFailure?.replace(/\.$/, '') };
  return situation('store', { ...values, ...why }, word);
}

export function videoSituation({
  phase,
  creationKey,
  taskId,
  video,
  watch,
}: Pick<VideoState, 'phase' | 'taskId' | 'video' | 'watch' | 'creationKey'>): [SituationName, AdviceValues] {
  const account = video?.account ?? 'default';
  const values = { TASK: taskId, KEY: creationKey, ACCOUNT: account, CREDENTIAL: account.split('@', 1)[0] };
  const error = watch?.lastError?.class === 'bad_request' ? 'not_found' : watch?.lastError?.class;
  const troubled = `watching/${error}`;
  if (phase === 'watching' && Object.hasOwn(SITUATIONS, troubled)) return [troubled as SituationName, values];
  return [phase === 'done' ? 'open' : phase, values];
}

function afterwards(facts: CaseFacts, word: Word): Advice {
  const { id, workflow, activity, video, outcome, creationKey } = facts;
  const decision = decisionInForce(facts.outcome, facts.decisions);
  const isSpent = decision?.decision === 'resubmit' && outcome === null && video !== null;
  if (decision !== undefined && !isSpent) return adviceOnDecision(facts, decision, word);
  if (outcome !== null) {
    const hint = failureRow(outcome)?.hint;
    if (hint === undefined) return situation('completed');
    return { step: STEPS[outcome.outcome] ?? 'see_outcome', text: hint };
  }
  if (video !== null) return situation('closed_with_task', { TASK: video.taskId }, word);
  if (workflow?.type === WORKFLOW.runCampaign)
    return situation('campaign', { ID: workflow.workflowId }, word);
  if ((workflow ?? activity)?.status === 'COMPLETED') return situation('result_unread');
  return situation('closed', { KEY: creationKey ?? workflow?.workflowId ?? id }, word);
}

const STEPS: { readonly [outcome: string]: Step } = { still_running: 'resume', unconfirmed: 'decide' };
