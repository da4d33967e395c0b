import { type CreateOnceState } from './create-once';
import { type CreatePolicy, createPolicyCheck } from './create-policy';
import { type WaitOrigin } from './end-of-wait';
import { type Labels, labelsCheck } from './money';
import { taskQueueCheck } from './names';
import { type LastTick } from './poll-cadence';
import {
  type ImageEditRequest,
  type ImageGenerationRequest,
  requestCheck,
  type VideoRequest,
} from './request';
import {
  absent,
  type Check,
  duration,
  type DurationInput,
  flag,
  name,
  objectOf,
  oneOf,
  optional,
  type ShapeOf,
} from './shape';
import { type PollingMode, storedTaskCheck, type VideoTask } from './video-task';
import { type WatchState } from './watch-state';

/**
 * The activities' task queues. Each defaults to the queue that a media worker serves for the workflow's own queue:
 * `<queue>/create` and so on.
 */
export interface MediaQueues {
  /** For creates, reconciliations and campaign books. @default `<queue>/create` */
  readonly create?: string;
  /** For polls. @default `<queue>/poll` */
  readonly poll?: string;
  /** For downloads. @default `<queue>/download` */
  readonly download?: string;
  /** For image calls and edits. @default `<queue>/image` */
  readonly image?: string;
}

/** How long and how often a task is polled (architecture: Wait). */
export interface WaitOptions {
  /** How long to wait for the video; can be days. @default '15 minutes' */
  readonly waitFor?: DurationInput;
  /** Once the wait has lasted `after`, polls only every `interval`. @default off */
  readonly slowPolling?: { readonly after: DurationInput; readonly interval: DurationInput };
  /**
   * Who polls: this workflow, or a watcher that polls many of the account's videos (docs/scale.md).
   * @default the worker's setting (MEDIA_POLLING). Without one, 'own' for a video that this workflow creates, and
   * 'shared' for a video that it only awaits, because several workflows might wait for the same task, and their polls
   * must not add up
   */
  readonly polling?: PollingMode;
}

interface VideoWorkflowOptions extends WaitOptions {
  /** Credential name, or `name@digest` to require one service address. @default 'default' */
  readonly account?: string;
  /** The activities' task queues. @default derived from the workflow's own queue */
  readonly queues?: MediaQueues;
  /** Whether the sidecar file contains the prompt. @default 'omit' */
  readonly sidecarPrompt?: 'include' | 'omit';
}

/** Options of every paid workflow, in addition to its request. */
export interface PaidWorkflowOptions {
  /** Credential name, or `name@digest` to require one service address. @default 'default' */
  readonly account?: string;
  /** Authorizes one call: the same key never buys twice. @default derived from the workflow's ids */
  readonly creationKey?: string;
  /** How long the call may wait for a worker or a configuration before it is sent. @default '24 hours' */
  readonly startLimit?: DurationInput;
  /** What the service's replies prove about the call. @default the worker's policy */
  readonly policy?: CreatePolicy;
  /** If true, sends nothing while a call with the same body and another key has an unknown outcome. @default false */
  readonly refuseWhileUnconfirmed?: boolean;
  /**
   * If true, sends the same request again after the service refused it under this key. Set this only at a person's
   * request.
   * @default false
   */
  readonly again?: boolean;
  /** For whom or what the call is made. @default none */
  readonly labels?: Labels;
  /** The activities' task queues. @default derived from the workflow's own queue */
  readonly queues?: MediaQueues;
}

/** Input of the `generateVideo` workflow. */
export interface GenerateVideoInput extends VideoWorkflowOptions, PaidWorkflowOptions {
  /** The video to create. An invalid request ends with the outcome `rejected` and is not sent. */
  readonly request: VideoRequest;
  /**
   * What to do if it is unknown whether the create was accepted. `end` returns `unconfirmed`. `wait` keeps the workflow
   * open until a person decides with the `adopt`, `declareLost` or `resubmit` Update. @default 'end'
   */
  readonly onUnconfirmed?: 'end' | 'wait';
  /** State from an earlier run of this workflow. Only continue-as-new sets it. @hidden */
  readonly carried?: CarriedVideo;
}

/** Input of the `awaitVideo` workflow, which polls and downloads but never creates. */
export interface AwaitVideoInput extends VideoWorkflowOptions {
  /** The `video` of a `still_running` outcome, or only the task id. */
  readonly video: VideoTask | { readonly taskId: string };
  /** Same as in {@link GenerateVideoInput}. @hidden */
  readonly carried?: CarriedVideo;
}

/** State that a video workflow passes to its next run by continue-as-new. */
export type CarriedVideo =
  | { readonly v: 1; readonly phase: 'creating'; readonly create: CreateOnceState }
  | CarriedWait;

/** A wait for a task, together with the create that preceded it. */
export interface CarriedWait extends WaitOrigin {
  readonly v: 1;
  readonly phase: 'watching';
  readonly state: WatchState;
  /** Absent before the first tick of the workflow's own loop. */
  readonly lastTick?: LastTick;
  /** Set if a watcher polls the task. */
  readonly shared?: true;
}

/** Input of the `generateImage` workflow. */
export interface GenerateImageWorkflowInput extends PaidWorkflowOptions {
  /** The images to generate. An invalid request ends with the outcome `rejected` and is not sent. */
  readonly request: ImageGenerationRequest;
}

/** Input of the `editImage` workflow. */
export interface EditImageWorkflowInput extends PaidWorkflowOptions {
  /** The images to edit and the prompt. */
  readonly request: ImageEditRequest;
}

/** Options of an image call made from the caller's own workflow, in addition to the request. */
export interface ImageCallOptions extends Omit<PaidWorkflowOptions, 'queues'> {
  /** Task queue of the media workers (their `MEDIA_TASK_QUEUE`). @default the task queue passed to `mediaActivities` */
  readonly taskQueue?: string;
}

const queue: Check<string | undefined> = optional(taskQueueCheck);

export const queuesCheck: Check<MediaQueues> = objectOf({
  create: queue,
  poll: queue,
  download: queue,
  image: queue,
});

const durationCheck = optional(duration);

export const WAIT_SHAPE = {
  waitFor: durationCheck,
  slowPolling: optional(
    objectOf<NonNullable<WaitOptions['slowPolling']>>({ after: duration, interval: duration }),
  ),
  polling: optional(oneOf('own', 'shared')),
} satisfies ShapeOf<WaitOptions>;

const account = optional(name());

const VIDEO_WORKFLOW = {
  ...WAIT_SHAPE,
  account,
  queues: optional(queuesCheck),
  sidecarPrompt: optional(oneOf('include', 'omit')),
} satisfies ShapeOf<VideoWorkflowOptions>;

/**
 * Fields that all paid calls have. The activity checks the request's contents, and {@link givenKeyIssue} checks the
 * key.
 */
const PAID = {
  request: requestCheck,
  account,
  creationKey: true,
  startLimit: durationCheck,
  policy: optional(createPolicyCheck),
  refuseWhileUnconfirmed: optional(flag),
  again: optional(flag),
  labels: optional(labelsCheck),
} as const satisfies ShapeOf<Omit<GenerateImageWorkflowInput, 'queues'>>;

export const GENERATE_VIDEO_SHAPE = {
  ...VIDEO_WORKFLOW,
  ...PAID,
  onUnconfirmed: optional(oneOf('end', 'wait')),
  carried: absent,
} satisfies ShapeOf<GenerateVideoInput>;

export const AWAIT_VIDEO_SHAPE = {
  ...VIDEO_WORKFLOW,
  video: storedTaskCheck,
  carried: absent,
} satisfies ShapeOf<AwaitVideoInput>;

export const IMAGE_WORKFLOW_SHAPE = { ...PAID, queues: optional(queuesCheck) } satisfies ShapeOf<
  GenerateImageWorkflowInput | EditImageWorkflowInput
>;

/** For helpers in a caller's own workflow, which specify only the media workers' task queue. */
export const IMAGE_CALL_SHAPE = { ...PAID, taskQueue: true } satisfies ShapeOf<
  ImageCallOptions & { request: unknown }
>;
