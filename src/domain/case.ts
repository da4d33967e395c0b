import { type ServiceView } from './activities';
import { isOpen, PAUSED } from './execution-status';
import { failureRow } from './failure-table';
import { WORKFLOW } from './names';
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
  readonly pendingActivities: readonly PendingActivity[];
  /** Link into the web UI; null when none is known. */
  readonly url: string | null;
}

/** An activity that is under way or waits for its next attempt. */
export interface PendingActivity {
  readonly type: string;
  readonly activityId: string;
  readonly attempt: number;
  readonly lastFailure: string | null;
  /** `storage`, `MediaJournalUnavailable`, …: what the failure says of its cause, for programs. */
  readonly failureClass: string | null;
  /** Whether a person has paused it. */
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
  /** Other workflows that handled the same task. */
  readonly otherWorkflows: readonly ExecutionView[];
  /** Run ids of earlier executions of the same workflow id, the newest first; `replay --run-id` shows one. */
  readonly earlierRuns: readonly string[];
  readonly video: VideoTask | null;
  readonly creationKey: string | null;
  readonly state: VideoState | null;
  readonly outcome: VideoOutcome | ImageOutcome | null;
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

/** What a person does next. */
export type Step =
  | 'nothing'
  | 'wait'
  | 'unpause'
  | 'start_worker'
  /** Mends what holds the workflow. */
  | 'mend'
  /** Waits for a task again and fetches its file. */
  | 'resume'
  /** The same request under the same id. */
  | 'start_again'
  /** Decides about a send of unknown fate. */
  | 'decide'
  /** Does what the outcome says. */
  | 'see_outcome'
  /** Looks at the campaign that a batch or a row belongs to. */
  | 'see_campaign';

interface Advice {
  readonly step: Step;
  /** For a person, with the command to paste. */
  readonly text: string;
}

/** The decision that stands about the send whose fate the outcome leaves open; undefined where it is still to be taken. */
export function standingDecision({
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
 * What is safe to do, in one place for every command. Nothing of it buys a second time, and it is never a decision that
 * has been taken.
 * @param word quotes a word for the shell in use
 */
export function adviceOf(facts: CaseFacts, word: (text: string) => string): Advice {
  const { workflow } = facts;
  if (workflow !== null && isOpen(workflow.status)) return whileOpen(facts, workflow, word);
  if (workflow !== null && !isOurs(workflow))
    // Started again, it would buy again: its calls have the keys of the run.
    return step(
      'nothing',
      'It has ended, and is a workflow of your own. `temporal-media status` of each of its paid calls says what is safe.',
    );
  if (workflow?.type === WORKFLOW.campaignBatch)
    return step('see_campaign', 'Nothing: a batch that has ended is counted by its campaign.');
  return afterwards(facts, word);
}

const OURS: ReadonlySet<string> = new Set(Object.values(WORKFLOW));

/** Whether a workflow is one of this package, and not of the user's own. */
export const isOurs = ({ type }: Pick<ExecutionView, 'type'>): boolean => OURS.has(type);

const step = (what: Step, text: string): Advice => ({ step: what, text });

/** Causes that no waiting mends: the artifact store or the journal of the workers. */
const STORE_FAILURES: ReadonlySet<string> = new Set(['storage', 'MediaJournalUnavailable']);

function whileOpen(
  { state, held, hasWorker, calls }: CaseFacts,
  { workflowId, status, type, taskQueue, pendingActivities }: ExecutionView,
  word: (text: string) => string,
): Advice {
  const sameVideo = 'Do not start the same video under another id.';
  if (status === PAUSED) return step('unpause', `${unpauseText(workflowId, word)} ${sameVideo}`);
  if (held !== null) return step('mend', held);
  const paused = pendingActivities.find((activity) => activity.paused);
  if (paused !== undefined)
    return step(
      'unpause',
      `Its activity ${paused.type} is paused in Temporal: \`temporal activity unpause --workflow-id ${word(workflowId)} --activity-id ${word(paused.activityId)}\` lets it go on. ${sameVideo}`,
    );
  const broken = pendingActivities.find(({ failureClass }) => STORE_FAILURES.has(failureClass ?? ''));
  if (broken !== undefined)
    return step(
      'mend',
      `Repair what its activity ${broken.type} needs: ${broken.lastFailure} It is tried again by itself. ${sameVideo}`,
    );
  if (hasWorker === false)
    return step(
      'start_worker',
      `Start a worker of the task queue ${taskQueue}: no worker polls it, and the workflow goes on by itself then. ${sameVideo}`,
    );
  if (type === WORKFLOW.runCampaign) return seeCampaign(workflowId, word);
  if (type === WORKFLOW.campaignBatch)
    return step('wait', 'Wait: it is a part of a campaign, which shows its rows.');
  if (state !== null) return step('wait', state.safe);
  return calls.length > 0
    ? step('wait', 'Wait: it goes on by itself. `temporal-media status` of one of its calls shows that call.')
    : step('wait', `Wait: it goes on by itself. ${sameVideo}`);
}

function afterwards(facts: CaseFacts, word: (text: string) => string): Advice {
  const { id, workflow, video, outcome, creationKey } = facts;
  const decision = standingDecision(facts);
  const isSpent = decision?.decision === 'resubmit' && outcome === null && video !== null;
  if (decision !== undefined && !isSpent) return adviceOnDecision(facts, decision, word);
  if (outcome !== null) {
    const hint = failureRow(outcome)?.hint;
    if (hint === undefined)
      return step('nothing', 'It is done. The same id returns the same result; nothing is bought again.');
    return step(STEPS[outcome.outcome] ?? 'see_outcome', hint);
  }
  if (video !== null) return resumed(video.taskId, word);
  if (workflow?.type === WORKFLOW.runCampaign) return seeCampaign(workflow.workflowId, word);
  if (workflow?.status === 'COMPLETED')
    return step(
      'see_outcome',
      'It has ended, and its result cannot be read here: read it before anything else.',
    );
  const key = creationKey ?? workflow?.workflowId ?? id;
  return step(
    'start_again',
    `Start the same request again under the id ${key}: what was bought is adopted, not bought again.`,
  );
}

function seeCampaign(id: string, word: (text: string) => string): Advice {
  return step('see_campaign', `\`temporal-media campaign status ${idOf(id, word)}\` shows its rows.`);
}

const STEPS: { readonly [outcome: string]: Step } = { still_running: 'resume', unconfirmed: 'decide' };

/** What follows from a decision that somebody has taken. */
export function adviceOnDecision(
  { video, creationKey, id }: Pick<CaseFacts, 'id' | 'creationKey' | 'video'>,
  { decision, taskId, by, at }: DecidedEntry,
  word: (text: string) => string,
): Advice {
  const who = `${by} decided at ${at}:`;
  switch (decision) {
    case 'adopt': {
      const { text } = resumed(video?.taskId ?? taskId ?? 'TASK', word);
      return step('resume', `${who} it was accepted as a task. ${text}`);
    }
    case 'declareLost':
      return step(
        'nothing',
        `${who} it is given up. Nothing is sent under this id any more; another purchase needs another id.`,
      );
    case 'resubmit':
      return step(
        'start_again',
        `${who} it is sent once more. Start the same request again under the id ${creationKey ?? id}.`,
      );
  }
}

function resumed(taskId: string, word: (text: string) => string): Advice {
  const command = `temporal-media resume ${idOf(taskId, word)}`;
  return step('resume', `Run \`${command}\`: it polls and downloads, and never creates.`);
}

/** An id of a command, after `--` where it looks like an option. */
const idOf = (id: string, word: (text: string) => string): string =>
  `${id.startsWith('-') ? '-- ' : ''}${word(id)}`;

/** How to unpause a paused workflow. */
export function unpauseText(workflowId: string, word: (text: string) => string): string {
  return `It is paused in Temporal: \`temporal workflow unpause --workflow-id ${word(workflowId)}\` lets it go on.`;
}
