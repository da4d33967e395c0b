/**
 * Starts media workflows, attaches to them and resumes them from any process. Needs only a Temporal client and a task
 * queue. The API key and the base address are configured on the worker.
 *
 * @module
 */
import { type Client } from '@temporalio/client';
import { fetchArtifactStore, findTask, fetchJournalPage, type ReviewInput } from './client/ask-worker';
import { CampaignClient } from './client/campaigns';
import { refuseInvalid, ResumeError } from './client/errors';
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
import { ImageClient, startPaid } from './client/start-paid';
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
import { type VideoOutcome } from './domain/outcome';
import { type ResolveUnconfirmedResult, type ReviewJournalPage } from './domain/unconfirmed-decision';
import { type VideoState } from './domain/video-state';
import { type VideoTask } from './domain/video-task';
import { WAIT_SHAPE, type GenerateVideoInput, type WaitOptions } from './domain/workflow-inputs';

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
export { ImageClient, type ImageStart, requestFingerprint } from './client/start-paid';
export {
  type ArtifactStoreOptions,
  type FindTaskOptions,
  type ImageStartOptions,
  type RunAs,
  type StartOptions,
  type TemporalMediaClientOptions,
  type WatchOptions,
} from './client/options';
export { type Started } from './client/workflow-handle';

/** Starts and controls paid calls. */
export class TemporalMediaClient {
  /** Starts, watches and controls campaigns. */
  readonly campaigns: CampaignClient;
  /** Generates and edits images. */
  readonly images: ImageClient;
  private readonly taskQueue: string;
  private readonly starter: Starter;

  constructor(
    /** The Temporal client. If the workers use a codec, the client needs the same codec. */
    readonly client: Client,
    options: TemporalMediaClientOptions = {},
  ) {
    refuseInvalid(options, CLIENT_KEYS);
    const { taskQueue = DEFAULT_TASK_QUEUE, searchAttributes: searchable = false } = options;
    this.taskQueue = taskQueue;
    this.starter = { client, taskQueue, searchable };
    this.images = new ImageClient(this.starter);
    this.campaigns = new CampaignClient(client, taskQueue, { searchAttributes: searchable });
  }

  /**
   * Starts `generateVideo`, or attaches to the workflow with this ID.
   * @throws CreationKeyConflictError, InvalidInputError
   */
  async startVideo(
    input: Omit<GenerateVideoInput, 'creationKey' | 'carried'>,
    options: StartOptions = {},
  ): Promise<Started<VideoOutcome>> {
    return startPaid(this.starter, { operation: 'create_video', request: input.request }, input, options);
  }

  /**
   * Returns the current state of a video workflow, including what its watcher knows. Also works for closed workflows
   * while their history is retained.
   */
  async videoState(workflowId: string): Promise<VideoState> {
    return videoState(this.client, workflowId);
  }

  /**
   * Makes a video's next poll run earlier. Accepts a workflow ID or a task ID. Call this when another source, such as a
   * webhook, reports that the task may be done. Only the poll determines the outcome, so a wrong or forged nudge costs
   * at most one GET. The model's shortest polling interval and Retry-After still apply.
   * @returns whether a workflow is waiting for the video
   */
  async nudge(workflowOrTaskId: string, options: FindTaskOptions = {}): Promise<boolean> {
    return nudge(this.client, this.taskQueue, workflowOrTaskId, options);
  }

  /** Returns a handle to a video workflow's newest run. Use it to wait for the outcome. Does not start anything. */
  getVideo(workflowId: string): Started<VideoOutcome> {
    return attach(this.client, workflowId);
  }

  /**
   * Yields a video workflow's state on every change, until the workflow closes or `signal` aborts. Only sends queries,
   * and never starts, cancels or polls anything. Can miss states if no worker answers queries.
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
   * Resumes waiting for a video. Accepts a workflow ID or a task ID. Attaches to the workflow that is already waiting,
   * or starts `awaitVideo`. Only polls and downloads, and never creates a task.
   * @throws ResumeError
   */
  async resume(workflowOrTaskId: string, wait: WaitOptions = {}): Promise<Started<VideoOutcome>> {
    refuseInvalid(wait, WAIT_SHAPE);
    const description = await describeWorkflow(this.client.workflow, workflowOrTaskId);
    if (description !== undefined) return resumeWorkflow(this.starter, description, wait);
    if ((await this.images.getHandle(workflowOrTaskId)) !== undefined)
      throw new ResumeError(`"${workflowOrTaskId}" is an image call. Wait for it with \`images.getHandle\`.`);
    const found = await this.findTask(workflowOrTaskId);
    return resumeFound(this.starter, found, wait);
  }

  /**
   * Looks up a task ID in a worker's journal. With `askService`, also sends one GET to the service.
   * @throws WorkflowFailedError if no worker answers within `timeoutMs`
   */
  async findTask(taskId: string, options: FindTaskOptions = {}): Promise<FoundVideoTask> {
    return findTask(this.client, this.taskQueue, taskId, options);
  }

  /**
   * Returns the name of a worker's artifact store. Results can be read only from a store with the same name.
   * @throws WorkflowFailedError if no worker answers within `timeoutMs`
   */
  async artifactStore(options: ArtifactStoreOptions = {}): Promise<ArtifactStoreFacts> {
    return fetchArtifactStore(this.client, this.taskQueue, options);
  }

  /**
   * Applies a person's decision about an unconfirmed paid call. Uses an Update if the call's workflow is waiting for a
   * decision, or else the `resolveUnconfirmed` workflow. Does not send a paid request, except for a `resubmit` that a
   * workflow is waiting for.
   */
  async resolveUnconfirmed(decision: DecisionInput, owner?: string): Promise<ResolveUnconfirmedResult> {
    return deliverDecision(this.client, this.taskQueue, decision, owner);
  }

  /**
   * Reads one page of a worker's journal. @throws WorkflowFailedError if no worker answers within two minutes
   */
  async reviewJournal(input: ReviewInput): Promise<ReviewJournalPage> {
    return fetchJournalPage(this.client, this.taskQueue, input);
  }

  /** Starts `awaitVideo` for a known task, or attaches to the workflow that is already waiting for it. */
  async startAwait(video: VideoTask, wait: WaitOptions = {}): Promise<Started<VideoOutcome>> {
    return startAwait(this.starter, video, wait);
  }
}
