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
import { type Billing, type Money } from './money';
import { isMediaWorkflow, isOpen, PAUSED, WORKFLOW } from './names';
import { type ImageOutcome, type VideoOutcome } from './outcome';
import { type DecidedEntry } from './unconfirmed-decision';
import { type VideoState } from './video-state';
import { type VideoTask } from './video-task';

/** A workflow execution as commands show it. */
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
  /** Link into the web UI; null when none is known. */
  readonly url: string | null;
}

/** An activity that is under way or waits for its next attempt. */
export interface OpenActivity {
  readonly type: string;
  readonly activityId: string;
  readonly attempt: number;
  readonly lastFailure: string | null;
  /** `storage`, `MediaJournalUnavailable`, …: what the failure says of its cause, for programs. */
  readonly failureClass: string | null;
  readonly paused: boolean;
}

/** A paid call that a workflow of the user's own has made. */
export interface OwnCall {
  /** Type of the child workflow, or of the activity. */
  readonly type: string;
  /** Of the child workflow, or of the activity. */
  readonly id: string;
  readonly state: 'open' | 'completed' | 'failed' | 'cancelled';
}

/** Everything that is known of a paid call, whatever kind of id it was looked up by. */
export interface CaseFacts {
  readonly id: string;
  readonly foundBy: 'workflow_id' | 'journal' | 'visibility' | 'service';
  /** The workflow that handles it now, else the last one that did. */
  readonly workflow: ExecutionView | null;
  readonly otherWorkflows: readonly ExecutionView[];
  /** Run ids of earlier executions of the same workflow id, the newest first; `replay --run-id` shows one. */
  readonly earlierRuns: readonly string[];
  readonly video: VideoTask | null;
  readonly creationKey: string | null;
  readonly state: VideoState | null;
  readonly outcome: VideoOutcome | ImageOutcome | null;
  /** What it costs by the price rule; null where that is not known. */
  readonly estimate: Money | null;
  readonly service: ServiceView | null;
  /** Decisions of people about its sends, the oldest first. */
  readonly decisions: readonly DecidedEntry[];
  /** Of a workflow of the user's own: the paid calls that it has made. */
  readonly calls: readonly OwnCall[];
  /** Why the workflow cannot go on although nobody has paused it; null where nothing is known to hold it. */
  readonly held: string | null;
  /** Whether a worker polls the task queue of the workflow; null when that is unknown. */
  readonly hasWorker: boolean | null;
}

const VIDEOS: ReadonlySet<string> = new Set([WORKFLOW.generateVideo, WORKFLOW.awaitVideo]);
const IMAGES: ReadonlySet<string> = new Set([WORKFLOW.generateImage, WORKFLOW.editImage]);

type Typed = Pick<ExecutionView, 'type'>;

export const isVideoCall = ({ type }: Typed): boolean => VIDEOS.has(type);

export const isImageCall = ({ type }: Typed): boolean => IMAGES.has(type);

export interface CaseMoney {
  readonly state: Billing['state'];
  readonly estimate: Money | null;
}

/**
 * What is owed. A wait that has ended ends the reservation of the one before; what may have been sent is under review until
 * an outcome settles it. Null where nothing is known of a send.
 */
export function caseMoney({ outcome, state, video, workflow, estimate }: CaseFacts): CaseMoney | null {
  if (outcome !== null) return { state: outcome.billing.state, estimate };
  if (workflow !== null && !isVideoCall(workflow) && !isImageCall(workflow)) return null;
  const isReserved = workflow !== null && isOpen(workflow.status) && video !== null;
  if (isReserved) return { state: 'reserved', estimate };
  // Another run of the id may owe what this one does not: nothing is called free before its outcome.
  const isUnsent = video === null && state?.phase === 'waiting_to_create';
  return isUnsent ? null : { state: 'needs_review', estimate };
}

/** The decision that stands about the send whose fate the outcome leaves open; undefined where it is still to be taken. */
export function decisionInForce({
  outcome,
  decisions,
}: Pick<CaseFacts, 'outcome' | 'decisions'>): DecidedEntry | undefined {
  if (outcome === null) return decisions.at(-1);
  // The same id, started again, fetches what is lost or sends what was authorised: that advice stands as it is.
  if (outcome.outcome === 'results_lost')
    return decisions.at(-1)?.decision === 'declareLost' ? decisions.at(-1) : undefined;
  if (outcome.outcome !== 'unconfirmed') return undefined;
  return decisions.findLast(({ sendId }) => sendId === outcome.evidence.sendId);
}

/**
 * What is safe to do, for every command. Nothing of it buys a second time, and it is never a decision that has been
 * taken.
 * @param word quotes a word for the shell in use
 */
export function adviceOf(facts: CaseFacts, word: Word): Advice {
  const { workflow } = facts;
  if (workflow !== null && isOpen(workflow.status)) return whileOpen(facts, workflow, word);
  if (workflow !== null && !isMediaWorkflow(workflow.type)) return situation('own_ended');
  if (workflow?.type === WORKFLOW.campaignBatch)
    return situation('batch_ended', { ID: campaignOfBatch(workflow.workflowId) }, word);
  return afterwards(facts, word);
}

/** Causes that no waiting mends: the artifact store or the journal of the workers. */
const STORE_FAILURES: ReadonlySet<string> = new Set(['storage', 'MediaJournalUnavailable']);

function whileOpen(
  { state, held, hasWorker, calls, creationKey }: CaseFacts,
  { workflowId, status, type, taskQueue, pendingActivities }: ExecutionView,
  word: Word,
): Advice {
  const workflow = { ID: workflowId, QUEUE: taskQueue };
  if (status === PAUSED) return situation('paused', workflow, word);
  if (held !== null) return { step: 'mend', text: held };
  const paused = pendingActivities.find((activity) => activity.paused);
  if (paused !== undefined) {
    const activity = { ACTIVITY: paused.type, NUMBER: paused.activityId };
    return situation('activity_paused', { ...workflow, ...activity }, word);
  }
  const broken = pendingActivities.find(({ failureClass }) => STORE_FAILURES.has(failureClass ?? ''));
  if (broken !== undefined)
    return situation(
      'store',
      { ...workflow, ACTIVITY: broken.type, WHY: broken.lastFailure?.replace(/\.$/, '') },
      word,
    );
  if (hasWorker === false) return situation('no_worker', workflow, word);
  if (type === WORKFLOW.runCampaign) return situation('campaign', workflow, word);
  if (type === WORKFLOW.campaignBatch)
    return situation('batch_open', { ID: campaignOfBatch(workflowId) }, word);
  if (state !== null) return situation(...videoSituation({ ...state, creationKey }), word);
  if (isImageCall({ type })) return situation('image');
  return situation(calls.length > 0 ? 'own_open' : 'open');
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
  const { id, workflow, video, outcome, creationKey } = facts;
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
  if (workflow?.status === 'COMPLETED') return situation('result_unread');
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
