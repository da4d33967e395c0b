import { type VideoState } from 'temporal-media';
import { adviceOnClosed, adviceOnDecision, keyValues } from 'temporal-media/internal/client/resume-video';
import {
  type Advice,
  KEY_NOTES,
  situation,
  type SituationName,
  SITUATIONS,
  type Step,
} from 'temporal-media/internal/domain/advice';
import { campaignOfBatch } from 'temporal-media/internal/domain/campaign/budget-book';
import { decisionInForce } from 'temporal-media/internal/domain/closed-call';
import { keySource } from 'temporal-media/internal/domain/creation-key';
import { failureRow } from 'temporal-media/internal/domain/failure-table';
import {
  isImageWorkflow,
  isMediaWorkflow,
  isOpen,
  PAUSED,
  WORKFLOW,
} from 'temporal-media/internal/domain/names';
import { type AdviceValues, filled, type Word } from 'temporal-media/internal/domain/terminal-text';
import { type CaseFacts, type ExecutionView, type OpenActivity, type StandaloneCall } from './case';

/**
 * Returns the advice on what is safe to do, which all commands use. Following it never causes a second purchase, and
 * the advice never asks for a decision that has already been made.
 * @param word quotes a word for the current shell
 */
export function adviceOf(facts: CaseFacts, word: Word): Advice {
  const { workflow, activity, creationKey, outcome } = facts;
  const isOwn = workflow !== null && !isMediaWorkflow(workflow.type);
  // Of a call in the user's own workflow, which continues after the call.
  const hasEnded = isOwn && creationKey !== null && outcome !== null;
  if (workflow !== null && isOpen(workflow.status) && !hasEnded) return whileOpen(facts, workflow, word);
  if (activity !== null && isOpen(activity.status)) return whileStandalone(facts, activity, word);
  if (isOwn && creationKey === null) return situation('own_ended');
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
  return situation(calls.length > 0 && creationKey === null ? 'own_open' : 'open');
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
  const { workflow, activity, video, outcome, creationKey } = facts;
  const source = creationKey === null ? undefined : keySource(creationKey);
  if (workflow === null && video === null && source?.by === 'row') return adviceOnClosed(creationKey, word);
  const decision = decisionInForce(facts.outcome, facts.decisions);
  const isSpent = decision?.decision === 'resubmit' && outcome === null && video !== null;
  if (decision !== undefined && !isSpent) return adviceOnDecision(facts, decision, word);
  if (outcome !== null) {
    const hint = failureRow(outcome)?.hint;
    if (hint === undefined) return completed(creationKey, word);
    const note = /same id/.test(hint) ? noteOnKey(facts, word) : '';
    return { step: STEPS[outcome.outcome] ?? 'see_outcome', text: `${hint}${note}` };
  }
  if (video !== null) return situation('closed_with_task', { TASK: video.taskId }, word);
  if (workflow?.type === WORKFLOW.runCampaign)
    return situation('campaign', { ID: workflow.workflowId }, word);
  const isMedia = workflow === null || isMediaWorkflow(workflow.type);
  if (isMedia && (workflow ?? activity)?.status === 'COMPLETED') return situation('result_unread');
  return adviceOnClosed(creationKey, word);
}

function completed(creationKey: string | null, word: Word): Advice {
  if (creationKey === null || keySource(creationKey) !== undefined) return situation('completed_once');
  return situation('completed', keyValues(creationKey), word);
}

/** Says which key to use where advice speaks of the same id. */
function noteOnKey({ id, workflow, activity, creationKey }: CaseFacts, word: Word): string {
  if (creationKey === (workflow?.workflowId ?? activity?.activityId ?? id)) return '';
  if (creationKey === null) return ` ${KEY_NOTES.unknown}`;
  const source = keySource(creationKey);
  const note =
    source === undefined ? KEY_NOTES.given : source.by === 'run' ? KEY_NOTES.derived : KEY_NOTES.unknown;
  return ` ${filled(note, keyValues(creationKey), word)}`;
}

const STEPS: { readonly [outcome: string]: Step } = { still_running: 'resume', unconfirmed: 'decide' };
