import { createHash } from 'node:crypto';
import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowExecutionDescription,
} from '@temporalio/client';
import { type FoundVideoTask } from '../domain/activities';
import { type Advice, situation } from '../domain/advice';
import { decisionInForce } from '../domain/closed-call';
import { keySource } from '../domain/creation-key';
import { baseTaskQueue, isOpen, QUERY, WORKFLOW } from '../domain/names';
import { type VideoOutcome } from '../domain/outcome';
import { type AdviceValues, shellWord, type Word } from '../domain/terminal-text';
import { type DecidedEntry } from '../domain/unconfirmed-decision';
import { type VideoState } from '../domain/video-state';
import { type VideoTask } from '../domain/video-task';
import { AWAIT_VIDEO_SHAPE, type AwaitVideoInput, type WaitOptions } from '../domain/workflow-inputs';
import { JournalLookup } from './ask-worker';
import { refuseInvalid, ResumeError } from './errors';
import { refuseUnregistered, type Starter, temporalOptions } from './options';
import { attach, describeWorkflow, started, type Started } from './workflow-handle';

/**
 * Returns the ID of the only workflow that waits for a task, derived from the account and the task ID (architecture:
 * Wait).
 */
export function awaitVideoWorkflowId(account: string, taskId: string): string {
  return `await-video/${account}/${createHash('sha256').update(taskId).digest('hex').slice(0, 32)}`;
}

/** Returns the outcome's task if its wait or download can continue; otherwise null. */
function unfinishedVideo(outcome: VideoOutcome): VideoTask | null {
  switch (outcome.outcome) {
    case 'still_running':
    case 'content_unavailable':
    case 'task_unknown':
    case 'cancelled':
      return outcome.video;
    default:
      return null;
  }
}

/**
 * Returns the task that a person has adopted for an unconfirmed create; null without a decision, or if no worker
 * answers.
 * @throws ResumeError if the decision leaves nothing to wait for
 */
async function adoptedVideo(
  client: Client,
  { taskQueue, workflowId }: WorkflowExecutionDescription,
  outcome: VideoOutcome,
): Promise<VideoTask | null> {
  if (outcome.outcome !== 'unconfirmed') return null;
  const { creationKey } = outcome;
  const journal = new JournalLookup(client);
  const queue = baseTaskQueue(taskQueue);
  const decision = decisionInForce(outcome, (await journal.decisions(creationKey, queue)) ?? []);
  if (decision === undefined) return null;
  const video = await journal.taskOf(decision, queue);
  if (video !== null) return video;
  const facts = { id: workflowId, creationKey, video };
  throw new ResumeError(adviceOnDecision(facts, decision, shellWord).text);
}

const DECIDED = { adopt: 'adopted', declareLost: 'declared_lost', resubmit: 'resubmitted' } as const;

/** Returns the advice on a call that a person has decided about. @param word quotes a word for the current shell */
export function adviceOnDecision(
  {
    id,
    creationKey,
    video,
  }: {
    readonly id: string;
    readonly creationKey: string | null;
    readonly video: VideoTask | null;
  },
  { decision, taskId, by, at }: DecidedEntry,
  word: Word,
): Advice {
  const task = video?.taskId ?? taskId;
  const key = creationKey ?? id;
  const values = { WHO: by, TIME: at, TASK: task, ...keyValues(key) };
  const source = decision === 'resubmit' ? keySource(key) : undefined;
  if (source === undefined) return situation(DECIDED[decision], values, word);
  return source.by === 'run' ? situation('resubmitted_derived', values, word) : adviceOnClosed(key, word);
}

/**
 * Returns the advice on a call that was closed without a task or an outcome. Only a start with the same creation key
 * adopts what was bought, and only a key that a caller passed can be passed again.
 * @param word quotes a word for the current shell
 */
export function adviceOnClosed(creationKey: string | null, word?: Word): Advice {
  if (creationKey === null) return situation('closed_unknown');
  const values = keyValues(creationKey);
  switch (keySource(creationKey)?.by) {
    case 'run':
      return situation('closed_derived', values, word);
    case 'activity':
      return situation('closed_activity', values, word);
    case 'row':
      return situation('campaign', { ID: values['OWNER'] }, word);
    case undefined:
      return situation('closed', values, word);
  }
}

/** Returns the values for advice on a creation key: the key, and the run of a workflow that derived it. */
export function keyValues(creationKey: string): AdviceValues {
  const { workflowId, runId } = keySource(creationKey) ?? {};
  return { KEY: creationKey, OWNER: workflowId, RUN: runId };
}

/** Starts `awaitVideo` for a known task, or attaches to the workflow that already waits for it. */
export async function startAwait(
  starter: Starter,
  video: VideoTask,
  wait: WaitOptions,
): Promise<Started<VideoOutcome>> {
  const input: AwaitVideoInput = { video, ...wait };
  refuseInvalid(input, AWAIT_VIDEO_SHAPE);
  const workflowId = awaitVideoWorkflowId(video.account, video.taskId);
  const { client, taskQueue } = starter;
  const { taskId, account, model } = video;
  const facts = { taskId, account, ...(model !== null && { model }) };
  try {
    const handle = await client.workflow
      .start(WORKFLOW.awaitVideo, {
        ...temporalOptions(starter, {}, { facts }),
        taskQueue,
        workflowId,
        workflowIdConflictPolicy: 'FAIL',
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        args: [input],
      })
      .catch(refuseUnregistered);
    return started(handle, handle.firstExecutionRunId, true);
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    const running = await describeWorkflow(client.workflow, workflowId);
    return attach(client, workflowId, running?.runId);
  }
}

/** Resumes waiting for a task that the journal or the service knows. */
export async function resumeFound(
  starter: Starter,
  found: FoundVideoTask,
  wait: WaitOptions,
): Promise<Started<VideoOutcome>> {
  const { client } = starter;
  const owner =
    found.workflowId === null ? undefined : await describeWorkflow(client.workflow, found.workflowId);
  if (owner !== undefined && isOpen(owner.status.name)) return attach(client, owner.workflowId, owner.runId);
  return startAwait(starter, found.video, { ...(found.polling && { polling: found.polling }), ...wait });
}

/** Resumes the wait of an open or ended video workflow. @throws ResumeError */
export async function resumeWorkflow(
  starter: Starter,
  description: WorkflowExecutionDescription,
  wait: WaitOptions,
): Promise<Started<VideoOutcome>> {
  const { client } = starter;
  const { workflowId, type, status } = description;
  if (type !== WORKFLOW.generateVideo && type !== WORKFLOW.awaitVideo) {
    throw new ResumeError(
      `The workflow "${workflowId}" is of type ${type}. Only video workflows can be resumed.`,
    );
  }
  const handle = attach<VideoOutcome>(client, workflowId, description.runId);
  if (isOpen(status.name)) return handle;
  if (status.name === 'COMPLETED') {
    const outcome = await handle.result();
    const video = unfinishedVideo(outcome) ?? (await adoptedVideo(client, description, outcome));
    return video === null ? handle : startAwait(starter, video, wait);
  }
  // The workflow was terminated, failed or timed out, but its last state still contains the task.
  const { video, creationKey } = await client.workflow
    .getHandle(workflowId, description.runId)
    .query<VideoState>(QUERY.videoState);
  if (video === null) {
    throw new ResumeError(
      `The workflow "${workflowId}" ended with status ${status.name.toLowerCase()} before it had a task. ${adviceOnClosed(creationKey).text}`,
    );
  }
  return startAwait(starter, video, wait);
}
