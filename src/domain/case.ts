import { type ServiceView } from './activities';
import {
  type Advice,
  type AdviceValues,
  situation,
  type SituationName,
  SITUATIONS,
  type Step,
  type Word,
} from './advice';
import { campaignOfBatch } from './campaign/budget-book';
import { failureRow } from './failure-table';
import { billedFor, mayBeOwed, type Send } from './log-entries';
import { type Billing, type Money } from './money';
import { ACTIVITY, isMediaWorkflow, isOpen, PAUSED, WORKFLOW } from './names';
import { type ImageOutcome, type VideoOutcome } from './outcome';
import { type DecidedEntry } from './unconfirmed-decision';
import { type CallWait, type VideoState } from './video-state';
import { type VideoTask } from './video-task';

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
const IMAGES: ReadonlySet<string> = new Set([WORKFLOW.generateImage, WORKFLOW.editImage]);

type Typed = Pick<ExecutionView, 'type'>;

export const isVideoCall = ({ type }: Typed): boolean => VIDEOS.has(type);

const IMAGE_ACTIVITIES: ReadonlySet<unknown> = new Set([ACTIVITY.generateImage, ACTIVITY.editImage]);

/** Whether an activity's type is that of an image call. */
export const isImageActivity = (type: unknown): boolean => IMAGE_ACTIVITIES.has(type);

export const isImageCall = ({ type }: Typed): boolean => IMAGES.has(type);

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
  if (workflow !== null && !isVideoCall(workflow) && !isImageCall(workflow)) return null;
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

/** Returns the decision about the send that the outcome leaves open, or undefined if nobody has decided yet. */
export function decisionInForce({
  outcome,
  decisions,
}: Pick<CaseFacts, 'outcome' | 'decisions'>): DecidedEntry | undefined {
  if (outcome === null) return decisions.at(-1);
  // Starting the same id again fetches lost results or sends an authorized call, so the outcome's advice still applies.
  if (outcome.outcome === 'results_lost')
    return decisions.at(-1)?.decision === 'declareLost' ? decisions.at(-1) : undefined;
  if (outcome.outcome !== 'unconfirmed') return undefined;
  return decisions.findLast(({ sendId }) => sendId === outcome.evidence.sendId);
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
  if (isImageCall({ type })) return situation('image');
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
  const decision = decisionInForce(facts);
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

const DECIDED = { adopt: 'adopted', declareLost: 'declared_lost', resubmit: 'resubmitted' } as const;

export function adviceOnDecision(
  { video, creationKey, id }: Pick<CaseFacts, 'id' | 'creationKey' | 'video'>,
  { decision, taskId, by, at }: DecidedEntry,
  word: Word,
): Advice {
  const task = video?.taskId ?? taskId;
  return situation(DECIDED[decision], { WHO: by, TIME: at, TASK: task, KEY: creationKey ?? id }, word);
}

/**
 * Whether a closed call with this outcome may start again under its id, because it bought nothing or because the
 * journal decides. `if_decided` means that it may only after a person has decided about the call.
 * @param again whether to send a refused request again
 */
export function startAgain(
  outcome: VideoOutcome | ImageOutcome,
  again: boolean,
): 'yes' | 'no' | 'if_decided' {
  switch (outcome.outcome) {
    // The new run adopts an existing task from the journal instead of buying again.
    case 'still_running':
    case 'cancelled':
      return 'yes';
    case 'unconfirmed':
      // The journal may have the outcome by now, and a worker sends only if the journal proves that nothing was sent.
      // Other causes need a decision first, because a worker without the journal would send again without knowing about
      // a decision.
      return JOURNAL_MAY_KNOW.has(outcome.evidence.cause) ? 'yes' : 'if_decided';
    case 'results_lost':
      // The call was already paid for. Fetching its results again buys nothing.
      return outcome.fetchable ? 'yes' : 'if_decided';
    case 'rejected':
      return !again && (outcome.reason === 'invalid_request' || outcome.reason === 'moderation')
        ? 'no'
        : 'yes';
    default:
      return 'no';
  }
}

/** Whether a closed call was refused. If so, the journal allows a corrected request or gives a reason not to. */
export function wasRefused(outcome: VideoOutcome | ImageOutcome): boolean {
  return outcome.outcome === 'rejected' && outcome.reason !== 'declared_lost';
}

/** Causes of `unconfirmed` for which the journal may have an outcome, because a worker was unavailable or died. */
const JOURNAL_MAY_KNOW: ReadonlySet<string> = new Set([
  'worker_lost',
  'activity_failed',
  'no_answer_in_time',
  'reconcile_failed',
  'no_outcome_recorded',
  // Once the cause of the refusal is fixed, another send within the key's window finds the outcome.
  'same_key_refused',
]);
