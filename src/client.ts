/**
 * Starts, attaches to and resumes media workflows from outside. Needs a Temporal client and a task queue; the key and
 * the base address are configured on the worker.
 *
 * @module
 */
import { createHash, randomUUID } from 'node:crypto';
import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowExecutionDescription,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { isOpen } from './domain/execution-status';
import {
  ARTIFACT_STORE_KEYS,
  type ArtifactStoreOptions,
  awaitVideoWorkflowId,
  CLIENT_KEYS,
  FIND_TASK_KEYS,
  type FindTaskOptions,
  startAgain,
  type Started,
  started,
  type StartOptions,
  type TemporalMediaClientOptions,
  unfinishedVideo,
  wasRefused,
  type WatchOptions,
} from './client/started';
import { CampaignClient } from './client/campaigns';
import { CreationKeyConflictError, refuseUnknownKeys, ResumeError } from './client/errors';
import {
  resolveUnconfirmed,
  reviewJournal,
  type DecisionInput,
  type ReviewInput,
} from './client/review-journal';
import { paidStart } from './client/paid-starts';
import { watchStates } from './client/watch-states';
import { type ArtifactStoreFacts, type FoundVideoTask } from './domain/activities';
import { fingerprintText } from './domain/fingerprint';
import { DEFAULT_TASK_QUEUE, FINGERPRINT_MEMO, QUERY, WORKFLOW } from './domain/names';
import { type ImageOutcome, type VideoOutcome } from './domain/outcome';
import { type PaidRequest } from './domain/request';
import { type ResolveUnconfirmedResult, type ReviewJournalPage } from './domain/unconfirmed-decision';
import { type VideoState } from './domain/video-state';
import { type VideoTask } from './domain/video-task';
import {
  WAIT_KEYS,
  type AwaitVideoInput,
  type EditImageWorkflowInput,
  type GenerateImageWorkflowInput,
  type GenerateVideoInput,
  type WaitOptions,
} from './domain/workflow-inputs';

export { awaitVideoWorkflowId } from './client/started';
export {
  CampaignConflictError,
  CampaignEndedError,
  CampaignNotFoundError,
  CampaignOrderError,
  CampaignInputError,
  CampaignUnreadableError,
} from './client/errors';
export { type CampaignExecution, type CampaignStart } from './client/campaign-records';
export { type RetriedOutcome } from './client/campaigns';
export { CampaignClient } from './client/campaigns';
export {
  type CampaignChanges,
  type CampaignOrder,
  type ResumedCampaign,
  type ResumeCampaignOptions,
} from './client/campaigns';
export {
  CodecUnreachableError,
  CreationKeyConflictError,
  InvalidInputError,
  ResumeError,
} from './client/errors';
export { type DecisionInput, type ReviewInput } from './client/review-journal';
export {
  type ArtifactStoreOptions,
  type FindTaskOptions,
  type StartOptions,
  type Started,
  type TemporalMediaClientOptions,
  type WatchOptions,
} from './client/started';

/** Starts and controls paid calls. For campaigns see {@link CampaignClient}. */
export class TemporalMediaClient extends CampaignClient {
  constructor(client: Client, options: TemporalMediaClientOptions = {}) {
    refuseUnknownKeys(options, CLIENT_KEYS);
    super(client, options.taskQueue ?? DEFAULT_TASK_QUEUE);
  }

  /**
   * Starts `generateVideo`, or attaches to the one with this id.
   * @throws CreationKeyConflictError, InvalidInputError
   */
  async startVideo(
    input: Omit<GenerateVideoInput, 'creationKey' | 'carried'>,
    options: StartOptions = {},
  ): Promise<Started<VideoOutcome>> {
    return this.startPaid({ operation: 'create_video', request: input.request }, input, options);
  }

  /** Starts `generateImage`, or attaches. @throws CreationKeyConflictError, InvalidInputError */
  async startImage(
    input: Omit<GenerateImageWorkflowInput, 'creationKey'>,
    options: StartOptions = {},
  ): Promise<Started<ImageOutcome>> {
    return this.startPaid({ operation: 'generate_image', request: input.request }, input, options);
  }

  /** Starts `editImage`, or attaches. @throws CreationKeyConflictError, InvalidInputError */
  async startEdit(
    input: Omit<EditImageWorkflowInput, 'creationKey'>,
    options: StartOptions = {},
  ): Promise<Started<ImageOutcome>> {
    return this.startPaid({ operation: 'edit_image', request: input.request }, input, options);
  }

  /** The current state of a video workflow; works for closed ones too while their history is kept. */
  async videoState(workflowId: string): Promise<VideoState> {
    return this.client.workflow.getHandle(workflowId).query<VideoState>(QUERY.videoState);
  }

  /** A handle of the newest run of a video workflow, to wait for its outcome; starts nothing. */
  getVideo(workflowId: string): Started<VideoOutcome> {
    return this.attach(workflowId);
  }

  /**
   * Yields the states of a video workflow as they change, until it is closed or `signal` aborts. It only queries: it
   * starts, cancels and polls nothing. A state that cannot be read, because no worker answers, is left out.
   */
  watch(workflowId: string, options: WatchOptions = {}): AsyncGenerator<VideoState, void, undefined> {
    return watchStates(
      {
        state: () => this.videoState(workflowId),
        isRunning: async () => isOpen((await this.describe(workflowId))?.status.name ?? ''),
      },
      options,
    );
  }

  /**
   * Resumes the wait for a video by workflow id or task id: attaches to a running owner, else starts `awaitVideo`.
   * Polls and downloads only; it never creates.
   * @throws ResumeError
   */
  async resume(workflowOrTaskId: string, wait: WaitOptions = {}): Promise<Started<VideoOutcome>> {
    refuseUnknownKeys(wait, WAIT_KEYS);
    const description = await this.describe(workflowOrTaskId);
    if (description !== undefined) return this.resumeWorkflow(description, wait);
    const found = await this.findTask(workflowOrTaskId);
    return this.resumeFound(found, wait);
  }

  /**
   * Looks up a task id in a worker's journal and, with `askService`, at the service itself: one GET.
   * @throws WorkflowFailedError when no worker has answered within `timeoutMs`
   */
  async findTask(taskId: string, options: FindTaskOptions = {}): Promise<FoundVideoTask> {
    refuseUnknownKeys(options, FIND_TASK_KEYS);
    return this.client.workflow.execute(WORKFLOW.findVideoTask, {
      taskQueue: this.taskQueue,
      workflowId: `find-video-task/${randomUUID()}`,
      workflowExecutionTimeout: options.timeoutMs ?? 120_000,
      args: [{ taskId, ...(options.askService === true && { askService: true }) }],
    }) as Promise<FoundVideoTask>;
  }

  /**
   * Reads the name of a worker's artifact store: results are found only in a store of the same name.
   * @throws WorkflowFailedError when no worker has answered within `timeoutMs`
   */
  async artifactStore(options: ArtifactStoreOptions = {}): Promise<ArtifactStoreFacts> {
    refuseUnknownKeys(options, ARTIFACT_STORE_KEYS);
    return this.client.workflow.execute(WORKFLOW.artifactStore, {
      taskQueue: this.taskQueue,
      workflowId: `artifact-store/${randomUUID()}`,
      workflowExecutionTimeout: options.timeoutMs ?? 120_000,
      args: [],
    }) as Promise<ArtifactStoreFacts>;
  }

  /**
   * Carries out a person's decision about a paid call of unknown fate: by an Update where its workflow waits for one,
   * else by the workflow `resolveUnconfirmed`. Sends nothing paid itself, except a `resubmit` that a workflow waits
   * for.
   */
  async resolveUnconfirmed(decision: DecisionInput, owner?: string): Promise<ResolveUnconfirmedResult> {
    return resolveUnconfirmed(this.client, this.taskQueue, decision, owner);
  }

  /** Reads one page of a worker's journal. @throws WorkflowFailedError when no worker has answered in two minutes */
  async reviewJournal(input: ReviewInput): Promise<ReviewJournalPage> {
    return reviewJournal(this.client, this.taskQueue, input);
  }

  /** Starts `awaitVideo` for a known task, or attaches to the workflow that already waits for it. */
  async startAwait(video: VideoTask, wait: WaitOptions = {}): Promise<Started<VideoOutcome>> {
    const workflowId = awaitVideoWorkflowId(video.account, video.taskId);
    const input: AwaitVideoInput = { video, ...wait };
    const handle = await this.client.workflow.start(WORKFLOW.awaitVideo, {
      taskQueue: this.taskQueue,
      workflowId,
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      args: [input],
    });
    return started(handle, handle.firstExecutionRunId, true);
  }

  private async resumeFound(found: FoundVideoTask, wait: WaitOptions): Promise<Started<VideoOutcome>> {
    const owner = found.workflowId === null ? undefined : await this.describe(found.workflowId);
    if (owner !== undefined && isOpen(owner.status.name)) return this.attach(owner.workflowId, owner.runId);
    return this.startAwait(found.video, wait);
  }

  private async resumeWorkflow(
    description: WorkflowExecutionDescription,
    wait: WaitOptions,
  ): Promise<Started<VideoOutcome>> {
    const { workflowId, type, status } = description;
    if (type !== WORKFLOW.generateVideo && type !== WORKFLOW.awaitVideo) {
      throw new ResumeError(
        `The workflow "${workflowId}" is a ${type}; only video workflows can be resumed.`,
      );
    }
    const handle = this.attach<VideoOutcome>(workflowId, description.runId);
    if (isOpen(status.name)) return handle;
    if (status.name === 'COMPLETED') {
      const outcome = await handle.result();
      const video = unfinishedVideo(outcome);
      return video === null ? handle : this.startAwait(video, wait);
    }
    // Terminated, failed or timed out: its last state still names the task.
    const { video } = await this.client.workflow
      .getHandle(workflowId, description.runId)
      .query<VideoState>(QUERY.videoState);
    if (video === null) {
      throw new ResumeError(
        `The workflow "${workflowId}" ended as ${status.name.toLowerCase()} before it had a task. Start the same request again under the same id: what was bought is adopted, not bought again.`,
      );
    }
    return this.startAwait(video, wait);
  }

  private async startPaid<Outcome extends VideoOutcome | ImageOutcome>(
    paid: PaidRequest,
    input: { readonly account?: string; readonly again?: boolean },
    options: StartOptions,
  ): Promise<Started<Outcome>> {
    const { type, id: workflowId } = paidStart(paid.operation, input, options);
    const fingerprint = requestFingerprint(paid, input.account);
    const start = (workflowIdReusePolicy: 'REJECT_DUPLICATE' | 'ALLOW_DUPLICATE') =>
      this.client.workflow.start(type, {
        taskQueue: this.taskQueue,
        workflowId,
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy,
        memo: { [FINGERPRINT_MEMO]: fingerprint },
        args: [{ ...input, creationKey: workflowId }],
      });
    const before = await this.describe(workflowId);
    const known = before === undefined || before.memo?.[FINGERPRINT_MEMO] === fingerprint;
    if (!known && !(await this.wasRefused(before))) throw new CreationKeyConflictError(workflowId);
    try {
      const again =
        !known || (before !== undefined && (await this.mayStartAgain<Outcome>(before, input.again === true)));
      const handle = await start(again ? 'ALLOW_DUPLICATE' : 'REJECT_DUPLICATE');
      const after = await handle.describe();
      if (after.memo?.[FINGERPRINT_MEMO] !== fingerprint) throw new CreationKeyConflictError(workflowId);
      return started(handle, after.runId, after.runId !== before?.runId);
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      return this.attach(workflowId);
    }
  }

  /** Whether the service accepted nothing from the workflow: its id is then free for the corrected request. */
  private async wasRefused({ status, workflowId, runId }: WorkflowExecutionDescription): Promise<boolean> {
    if (status.name !== 'COMPLETED') return false;
    return wasRefused(await this.attach<VideoOutcome | ImageOutcome>(workflowId, runId).result());
  }

  /** Whether a closed workflow of this id bought nothing, or its status does not show it: the journal then decides. */
  private async mayStartAgain<Outcome extends VideoOutcome | ImageOutcome>(
    description: WorkflowExecutionDescription,
    wanted: boolean,
  ): Promise<boolean> {
    const { status, workflowId, runId } = description;
    if (isOpen(status.name)) return false;
    if (status.name !== 'COMPLETED') return true;
    const outcome = await this.attach<Outcome>(workflowId, runId).result();
    const again = startAgain(outcome, wanted);
    return again === 'if_decided' && 'creationKey' in outcome && outcome.creationKey !== null
      ? this.isDecided(outcome.creationKey)
      : again === 'yes';
  }

  private async isDecided(creationKey: string): Promise<boolean> {
    const page = await this.reviewJournal({ list: 'decided', creationKey }).catch(() => undefined);
    return page !== undefined && page.decided.length > 0;
  }

  private attach<Outcome>(workflowId: string, runId?: string): Started<Outcome> {
    return started(this.client.workflow.getHandle(workflowId, runId), runId ?? '', false);
  }

  private async describe(workflowId: string): Promise<WorkflowExecutionDescription | undefined> {
    try {
      return await this.client.workflow.getHandle(workflowId).describe();
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    }
  }
}

/** Fingerprint of a request for the memo. That of the journal also covers the resolved account, unknown to a client. */
export function requestFingerprint(paid: PaidRequest, account?: string): string {
  return createHash('sha256')
    .update(fingerprintText(paid, account ?? null))
    .digest('hex');
}
