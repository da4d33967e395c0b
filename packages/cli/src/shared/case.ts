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
import { billedFor, mayBeOwed, type Send } from 'temporal-media/internal/domain/log-entries';
import { isImageWorkflow, isMediaWorkflow, isOpen, WORKFLOW } from 'temporal-media/internal/domain/names';

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
  /** Set if the call waits to be sent. Null for any other failure. */
  readonly waits: CallWait | null;
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
  /** Id of the child workflow or activity. An activity's id is unique only within its workflow. */
  readonly id: string;
  /** The creation key, by which `status` finds the call. Null if it cannot be read here. */
  readonly creationKey: string | null;
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
 * Returns the amount owed, or null if nothing is known about a send. Money is reserved while the call is open, unless
 * it waits for a person's decision. A call that ended without an outcome is under review, because it may have been sent.
 * @param sends those of the call's creation key, if this machine can read the journal
 */
export function caseMoney(
  { outcome, state, video, workflow, activity, estimate, creationKey }: CaseFacts,
  sends: readonly Send[] = [],
): CaseMoney | null {
  const amounts = { estimate, actual: billedTotal(sends) };
  if (outcome !== null) return sinceOutcome(outcome.billing, amounts, sends);
  const isOfOwn = workflow !== null && !isMediaWorkflow(workflow.type) && creationKey !== null;
  if (workflow !== null && !isPaidCall(workflow) && !isOfOwn) return null;
  // Another run under this id may owe money, so a call is not reported as free before it has an outcome.
  const isUnsent = video === null && state?.phase === 'waiting_to_create' && !sends.some(mayBeOwed);
  if (isUnsent) return null;
  const execution = workflow ?? activity;
  const isRunning = execution !== null && isOpen(execution.status) && state?.phase !== 'unconfirmed';
  return { state: isRunning ? 'reserved' : 'needs_review', ...amounts };
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
