import {
  ApplicationFailure,
  type ChildWorkflowOptions,
  executeChild,
  ParentClosePolicy,
  setWorkflowOptions,
  startChild,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow';
import { type CampaignState } from '../domain/campaign/campaign-state';
import { labelsMemo } from '../domain/money';
import { activityQueues, STARTED_BY, WORKFLOW } from '../domain/names';
import { type ImageOutcome, refusedBeforeSend, type VideoOutcome } from '../domain/outcome';
import { callSummary, type ImageEditRequest, type ImageGenerationRequest } from '../domain/request';
import { type VideoState } from '../domain/video-state';
import {
  type AwaitVideoInput,
  type GenerateVideoInput,
  IMAGE_CALL_SHAPE,
  type ImageCallOptions,
} from '../domain/workflow-inputs';
import { creationKey } from './creation-key';
import { type OnProgress, reportProgress, taskQueueIssue } from './handlers';
import { imageCall, type ImagePlace } from './image-call';
import { PINNED } from './workflow-metadata';

/**
 * What a workflow's own history shows about a video that runs as its child. The states in between are in the child's
 * execution, and each one that the child sent would cost both workflows events.
 */
export interface ChildProgress {
  /** `started`: the server started the child. `done`: the child returned an outcome. */
  readonly phase: 'started' | 'done';
  /** The child's workflow ID: publish it, and pass it to `media.watch` or the `video_state` query for all states. */
  readonly workflowId: string;
  /** How the video ended; null before that. */
  readonly outcome: VideoOutcome['outcome'] | null;
}

/** Options of {@link executeVideo}: child workflow options, with a required task queue. */
export type ExecuteVideoOptions = Omit<ChildWorkflowOptions, 'args' | 'taskQueue'> & {
  /**
   * Task queue of the media workers (`MEDIA_TASK_QUEUE`). If the caller itself runs on the media workers, use
   * `workflowInfo().taskQueue`.
   */
  readonly taskQueue: string;
  /**
   * Called when the child has started and when it has ended, at events that the caller has anyway. Not called if the
   * child is not started, or ends without an outcome. For all states of a video, see {@link withProgress}.
   */
  readonly onProgress?: OnProgress<ChildProgress>;
};

/**
 * Runs `generateVideo` as a child of the calling workflow, with a creation key derived from the caller's own IDs. If
 * the caller is reset or retried, it therefore adopts the video that it already bought (failure model: What Temporal
 * runs again). The child's ID begins with the caller's workflow type. If the caller ends, the child keeps running
 * (`ABANDON`), because stopping it would save no money.
 */
export async function executeVideo(
  input: Omit<GenerateVideoInput, 'carried'>,
  options: ExecuteVideoOptions,
): Promise<VideoOutcome> {
  // An untyped caller may pass no options.
  const issue = taskQueueIssue((options as ExecuteVideoOptions | undefined)?.taskQueue);
  if (issue !== undefined) return refusedBeforeSend('invalid_request', issue, 'taskQueue');
  const own = creationKey((input as GenerateVideoInput | null)?.creationKey);
  if ('refused' in own) return refusedBeforeSend('creation_key_required', own.refused, 'creationKey');
  const staticSummary = callSummary((input as GenerateVideoInput | null)?.request);
  const keyed = { ...input, creationKey: own.key };
  const memo = { ...options.memo, ...labelsMemo((input as GenerateVideoInput | null)?.labels) };
  return runChild(WORKFLOW.generateVideo, keyed, { staticSummary, ...options, memo });
}

/**
 * Continues to wait for an existing video by running `awaitVideo` as a child of the calling workflow. Accepts the
 * `video` from a `still_running` outcome, or only a task ID. Creates nothing. Each call starts a new wait that lasts up
 * to `waitFor`.
 */
export async function resumeVideo(
  video: AwaitVideoInput['video'],
  options: ExecuteVideoOptions,
  wait: Omit<AwaitVideoInput, 'carried' | 'video'> = {},
): Promise<VideoOutcome> {
  const issue = taskQueueIssue((options as ExecuteVideoOptions | undefined)?.taskQueue);
  if (issue !== undefined) return refusedBeforeSend('invalid_request', issue, 'taskQueue');
  return runChild(WORKFLOW.awaitVideo, { ...wait, video }, options);
}

type VideoWorkflow = (input: GenerateVideoInput | AwaitVideoInput) => Promise<VideoOutcome>;
type VideoChild = ExecuteVideoOptions & { readonly args: Parameters<VideoWorkflow> };

/**
 * Runs a child. Without a hook, this adds no promise to those of older versions, because another one could change the
 * order of the caller's commands in a replay.
 */
function runChild(
  type: string,
  input: Parameters<VideoWorkflow>[0],
  { onProgress, ...options }: ExecuteVideoOptions,
): Promise<VideoOutcome> {
  const child: VideoChild = { ...childOptions(options), args: [input] };
  return typeof onProgress === 'function'
    ? reportedChild(type, child, onProgress)
    : executeChild<VideoWorkflow>(type, child);
}

/** Issues the same commands as `executeChild`. */
async function reportedChild(
  type: string,
  child: VideoChild,
  onProgress: OnProgress<ChildProgress>,
): Promise<VideoOutcome> {
  const report = reportProgress(onProgress, ({ phase }) => phase);
  const handle = await startChild<VideoWorkflow>(type, child);
  const { workflowId } = handle;
  report(() => ({ phase: 'started', workflowId, outcome: null }));
  const result = await handle.result();
  report(() => ({ phase: 'done', workflowId, outcome: result.outcome }));
  return result;
}

/**
 * Returns `generateVideo`, `awaitVideo` or `runCampaign` with a hook that gets its states while it runs: at the start of
 * each run, and on each change of the phase, of the service's record, or of a campaign's counts and budget. With shared
 * polling, a video has only phases, because its record is with the watcher. Export the result as your own workflow and
 * start it with the same input, on the media workers' task queue:
 *
 * ```ts
 * export const film = withProgress(generateVideo, ({ phase }) => upsertMemo({ phase }));
 * ```
 *
 * A child runs in its own execution, where no function of its parent is called. If a parent needs more than its child's
 * start and end, start your own workflow with `startChild` and a `creationKey` (without one, a reset of the parent buys
 * again), and let the hook signal `workflowInfo().parent`. Commands of the hook add events: for about five states of a
 * video, but for every report of a campaign's batches. What the hook does after an `await` may be lost in the last state.
 *
 * The workflow has your name, so `media.campaigns` and commands that look for `runCampaign` do not find it; queries,
 * Updates and `media.watch` work.
 */
export function withProgress<Input, Outcome, State extends VideoState | CampaignState>(
  workflow: (input: Input, onProgress?: OnProgress<State>) => Promise<Outcome>,
  onProgress: OnProgress<NoInfer<State>>,
): (input: Input) => Promise<Outcome> {
  // The input is passed through, because a continue-as-new continues with it: a wrapper that changed it would buy again.
  const reporting = (input: Input): Promise<Outcome> => workflow(input, onProgress);
  setWorkflowOptions(PINNED, reporting);
  return reporting;
}

/** Short enough even if every character takes four bytes, because the server allows 1,000 bytes in an ID. */
const MAX_NAME = 250;

function childOptions(options: ExecuteVideoOptions): ExecuteVideoOptions {
  return {
    // A paid video is finished and kept even if its caller ends. A retry of the caller adopts it.
    parentClosePolicy: ParentClosePolicy.ABANDON,
    // Identifies the caller by its type. The caller's ID is not in its history, which may be replayed under any ID. The
    // child's ID must not be one that the caller would generate again after a reset, because the server would reject it
    // as a duplicate of the running child.
    workflowId: `${workflowInfo().workflowType.slice(0, MAX_NAME)}/video/${uuid4()}`,
    ...options,
    memo: { ...options.memo, ...STARTED_BY },
  };
}

/** Image calls from a workflow: plain activities with keys derived from the caller's IDs. */
export interface MediaCalls {
  /** Buys images. Never throws because of the service: the outcome reports what happened. */
  generateImage(request: ImageGenerationRequest, options?: ImageCallOptions): Promise<ImageOutcome>;
  /** Buys an image edit. Never throws because of the service: the outcome reports what happened. */
  editImage(request: ImageEditRequest, options?: ImageCallOptions): Promise<ImageOutcome>;
}

/** Options for all of a workflow's calls. */
export type MediaCallDefaults = Omit<ImageCallOptions, 'creationKey' | 'taskQueue'> &
  Pick<ExecuteVideoOptions, 'taskQueue'>;

function placeOf(taskQueue: string): ImagePlace {
  const refused = taskQueueIssue(taskQueue);
  const place = refused === undefined ? { taskQueue: activityQueues(taskQueue).image } : { refused };
  return { ...place, shape: IMAGE_CALL_SHAPE };
}

/** Returns this package's image activities for use in a workflow. `defaults` apply to every call. */
export function mediaActivities(defaults: MediaCallDefaults): MediaCalls {
  const call =
    (operation: Parameters<typeof imageCall>[0]) =>
    (request: ImageEditRequest | ImageGenerationRequest, options?: ImageCallOptions) => {
      const input = { ...defaults, ...options, request };
      return imageCall(operation, input, placeOf(input.taskQueue));
    };
  return { generateImage: call('generate_image'), editImage: call('edit_image') };
}

type Outcome = VideoOutcome | ImageOutcome;
type Completed<Of> = Extract<Of, { readonly outcome: 'completed' }>;

/** Outcomes that stay the same under the same key, even if the workflow is retried, unless a person acts first. */
const FINAL: ReadonlySet<string> = new Set(['failed', 'rejected', 'unconfirmed', 'task_unknown']);

/**
 * Returns the outcome if it is a success. Throws on any other outcome, so that a workflow that ignores outcomes fails
 * instead of completing. The failure's details contain the outcome, including the ID of a task that is still running.
 *
 * @throws ApplicationFailure with the outcome's name as `type`, such as `still_running`, and the outcome as its only
 * detail. It is not retryable if retrying the workflow would end the same way unless a person acts first.
 */
export function orThrow<Of extends Outcome>(outcome: Of): Completed<Of> {
  if (isCompleted(outcome)) return outcome;
  const { outcome: type } = outcome;
  const detail = detailOf(outcome);
  throw ApplicationFailure.create({
    type,
    message: `${type}${detail === '' ? '' : `/${detail}`}: the details contain the outcome, including the task's ID if there is one.`,
    nonRetryable: FINAL.has(type),
    details: [outcome],
  });
}

function isCompleted<Of extends Outcome>(outcome: Of): outcome is Of & Completed<Of> {
  return outcome.outcome === 'completed';
}

/** Returns the reason for the outcome, as named in the failure table (docs/errors.md). */
function detailOf(outcome: Outcome): string {
  if (outcome.outcome === 'failed') return outcome.error.kind;
  return 'reason' in outcome ? outcome.reason : '';
}
