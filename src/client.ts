/**
 * Starts, attaches to and resumes media workflows from outside. Needs a Temporal client and a task queue; the key and
 * the base address are configured on the worker.
 *
 * @module
 */
import { type Client } from '@temporalio/client';
import { fetchArtifactStore, findTask, fetchJournalPage, type ReviewInput } from './client/ask-worker';
import { CampaignClient } from './client/campaigns';
import { refuseInvalid } from './client/errors';
import {
  type ArtifactStoreOptions,
  CLIENT_KEYS,
  type FindTaskOptions,
  type Starter,
  type StartOptions,
  type TemporalMediaClientOptions,
  type WatchOptions,
} from './client/options';
import { type DecisionInput, deliverDecision } from './client/resolve-unconfirmed';
import { resumeFound, resumeWorkflow, startAwait } from './client/resume-video';
import { startPaid } from './client/start-paid';
import {
  attach,
  describeWorkflow,
  nudge,
  type Started,
  videoState,
  watchStates,
} from './client/workflow-handle';
import { type ArtifactStoreFacts, type FoundVideoTask } from './domain/activities';
import { DEFAULT_TASK_QUEUE, isOpen } from './domain/names';
import { type ImageOutcome, type VideoOutcome } from './domain/outcome';
import { type ResolveUnconfirmedResult, type ReviewJournalPage } from './domain/unconfirmed-decision';
import { type VideoState } from './domain/video-state';
import { type VideoTask } from './domain/video-task';
import {
  WAIT_SHAPE,
  type EditImageWorkflowInput,
  type GenerateImageWorkflowInput,
  type GenerateVideoInput,
  type WaitOptions,
} from './domain/workflow-inputs';

export { awaitVideoWorkflowId } from './client/resume-video';
export {
  CampaignConflictError,
  CampaignEndedError,
  CampaignNotFoundError,
  CampaignOrderError,
  CampaignInputError,
  CampaignUnreadableError,
} from './client/errors';
export { type CampaignExecution, type CampaignStart } from './client/campaign-records';
export { type RetriedOutcome } from './domain/campaign/plan';
export { CampaignClient, type OrderInput } from './client/campaigns';
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
export { type ReviewInput } from './client/ask-worker';
export { type DecisionInput } from './client/resolve-unconfirmed';
export { requestFingerprint } from './client/start-paid';
export {
  type ArtifactStoreOptions,
  type FindTaskOptions,
  type StartOptions,
  type TemporalMediaClientOptions,
  type WatchOptions,
} from './client/options';
export { type Started } from './client/workflow-handle';

/** Starts and controls paid calls. */
export class TemporalMediaClient {
  /** Starts, watches and controls campaigns. */
  readonly campaigns: CampaignClient;
  private readonly taskQueue: string;
  private readonly starter: Starter;

  constructor(
    /** The Temporal client, with the codec of the workers if they have one. */
    readonly client: Client,
    options: TemporalMediaClientOptions = {},
  ) {
    refuseInvalid(options, CLIENT_KEYS);
    const { taskQueue = DEFAULT_TASK_QUEUE, searchAttributes: searchable = false } = options;
    this.taskQueue = taskQueue;
    this.starter = { client, taskQueue, searchable };
    this.campaigns = new CampaignClient(client, taskQueue, { searchAttributes: searchable });
  }

  /**
   * Starts `generateVideo`, or attaches to the one with this id.
   * @throws CreationKeyConflictError, InvalidInputError
   */
  async startVideo(
    input: Omit<GenerateVideoInput, 'creationKey' | 'carried'>,
    options: StartOptions = {},
  ): Promise<Started<VideoOutcome>> {
    return startPaid(this.starter, { operation: 'create_video', request: input.request }, input, options);
  }

  /** Starts `generateImage`, or attaches. @throws CreationKeyConflictError, InvalidInputError */
  async startImage(
    input: Omit<GenerateImageWorkflowInput, 'creationKey'>,
    options: StartOptions = {},
  ): Promise<Started<ImageOutcome>> {
    return startPaid(this.starter, { operation: 'generate_image', request: input.request }, input, options);
  }

  /** Starts `editImage`, or attaches. @throws CreationKeyConflictError, InvalidInputError */
  async startEdit(
    input: Omit<EditImageWorkflowInput, 'creationKey'>,
    options: StartOptions = {},
  ): Promise<Started<ImageOutcome>> {
    return startPaid(this.starter, { operation: 'edit_image', request: input.request }, input, options);
  }

  /**
   * Returns the current state of a video workflow, including what its watcher knows. Works for closed ones too while
   * their history is retained.
   */
  async videoState(workflowId: string): Promise<VideoState> {
    return videoState(this.client, workflowId);
  }

  /**
   * Runs the next poll of a video earlier, by workflow id or task id: for callers that learn by other means, such as a
   * webhook, that the task may be done. The poll decides, so a wrong or forged nudge costs one GET at most. It never
   * runs sooner than the shortest interval of the model after the last poll, and Retry-After is respected.
   * @returns whether a workflow waits for the video
   */
  async nudge(workflowOrTaskId: string, options: FindTaskOptions = {}): Promise<boolean> {
    return nudge(this.client, this.taskQueue, workflowOrTaskId, options);
  }

  /** Returns a handle of the newest run of a video workflow, to wait for its outcome; starts nothing. */
  getVideo(workflowId: string): Started<VideoOutcome> {
    return attach(this.client, workflowId);
  }

  /**
   * Yields the states of a video workflow as they change, until it is closed or `signal` aborts. It only queries: it
   * starts, cancels and polls nothing. Skips a state that cannot be read because no worker answers.
   */
  watch(workflowId: string, options: WatchOptions = {}): AsyncGenerator<VideoState, void, undefined> {
    return watchStates(
      {
        state: () => this.videoState(workflowId),
        isRunning: async () =>
          isOpen((await describeWorkflow(this.client.workflow, workflowId))?.status.name ?? ''),
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
    refuseInvalid(wait, WAIT_SHAPE);
    const description = await describeWorkflow(this.client.workflow, workflowOrTaskId);
    if (description !== undefined) return resumeWorkflow(this.starter, description, wait);
    const found = await this.findTask(workflowOrTaskId);
    return resumeFound(this.starter, found, wait);
  }

  /**
   * Looks up a task id in a worker's journal and, with `askService`, at the service itself: one GET.
   * @throws WorkflowFailedError when no worker has answered within `timeoutMs`
   */
  async findTask(taskId: string, options: FindTaskOptions = {}): Promise<FoundVideoTask> {
    return findTask(this.client, this.taskQueue, taskId, options);
  }

  /**
   * Reads the name of a worker's artifact store: results are found only in a store of the same name.
   * @throws WorkflowFailedError when no worker has answered within `timeoutMs`
   */
  async artifactStore(options: ArtifactStoreOptions = {}): Promise<ArtifactStoreFacts> {
    return fetchArtifactStore(this.client, this.taskQueue, options);
  }

  /**
   * Applies a person's decision about a paid call of unknown fate: by an Update if its workflow waits for one, else by
   * the workflow `resolveUnconfirmed`. Sends nothing paid itself, except a `resubmit` that a workflow waits for.
   */
  async resolveUnconfirmed(decision: DecisionInput, owner?: string): Promise<ResolveUnconfirmedResult> {
    return deliverDecision(this.client, this.taskQueue, decision, owner);
  }

  /** Reads one page of a worker's journal. @throws WorkflowFailedError when no worker has answered in two minutes */
  async reviewJournal(input: ReviewInput): Promise<ReviewJournalPage> {
    return fetchJournalPage(this.client, this.taskQueue, input);
  }

  /** Starts `awaitVideo` for a known task, or attaches to the workflow that already waits for it. */
  async startAwait(video: VideoTask, wait: WaitOptions = {}): Promise<Started<VideoOutcome>> {
    return startAwait(this.starter, video, wait);
  }
}
