import { type CreateOnceState } from './create-once';
import { CREATE_POLICY_KEYS, type CreatePolicy } from './create-policy';
import { type CreatedVideo } from './paid-call';
import { type PollLoopSnapshot } from './polling';
import { type ImageEditRequest, type ImageGenerationRequest, type VideoRequest } from './request';
import { VIDEO_TASK_KEYS, type VideoTask } from './video-task';
import { type KeysOf } from './known-keys';

/** Milliseconds, or a text such as `15m` or `2 days`. */
export type DurationInput = number | string;

/** Task queues of the activities; each defaults to that which a media worker serves beside the workflow's own: `<queue>/create` and so on. */
export interface MediaQueues {
  readonly create?: string;
  readonly poll?: string;
  readonly download?: string;
  readonly image?: string;
}

/** How long and how a task is watched (architecture: Wait). */
export interface WaitOptions {
  /** How long to wait for the video; days are fine. @default '15 minutes' */
  readonly waitFor?: DurationInput;
  /** Poll more slowly once the wait is long: after this much time, only so often. Off unless given. */
  readonly slowPolling?: { readonly after: DurationInput; readonly interval: DurationInput };
}

interface VideoWorkflowOptions extends WaitOptions {
  /** Credential name, or `name@digest` to insist on one service. @default 'default' */
  readonly account?: string;
  readonly queues?: MediaQueues;
  /** Whether the side-car file holds the prompt. @default 'omit' */
  readonly sidecarPrompt?: 'include' | 'omit';
}

/** Input of the workflow `generateVideo`. */
export interface GenerateVideoInput extends VideoWorkflowOptions {
  readonly request: VideoRequest;
  /** One authorisation to create: the same key never buys twice. @default derived from the workflow's own ids */
  readonly creationKey?: string;
  /** How long the create may wait unsent for a worker or a configuration. @default '24 hours' */
  readonly startLimit?: DurationInput;
  readonly policy?: CreatePolicy;
  /**
   * What follows when the fate of the create is unknown: `end` returns `unconfirmed`; `wait` keeps the workflow open
   * until somebody decides by an Update `adopt`, `declareLost` or `resubmit`. @default 'end'
   */
  readonly onUnconfirmed?: 'end' | 'wait';
  /** Nothing is sent while a create with this very body and another key has an unknown fate. @default false */
  readonly refuseWhileUnconfirmed?: boolean;
  /** A person wants this very request sent again where the service refused it before under this key. @default false */
  readonly again?: boolean;
  /** State of an earlier run of this workflow; set by continue-as-new only. */
  readonly carried?: CarriedVideo;
}

/** Input of the workflow `awaitVideo`: poll and download only, never a create. */
export interface AwaitVideoInput extends VideoWorkflowOptions {
  /** The kept facts of a `still_running` outcome, or the task id alone. */
  readonly video: VideoTask | { readonly taskId: string };
  readonly carried?: CarriedVideo;
}

/** What a video workflow takes through its own continue-as-new. */
export type CarriedVideo =
  | { readonly v: 1; readonly phase: 'creating'; readonly create: CreateOnceState }
  | {
      readonly v: 1;
      readonly phase: 'watching';
      readonly creationKey: string | null;
      /** Null for a task that this workflow did not create. */
      readonly created: Pick<CreatedVideo, 'estimate' | 'warnings' | 'mayBeOwed'> | null;
      readonly loop: PollLoopSnapshot;
    };

/** Input of the workflow `generateImage`. */
export interface GenerateImageWorkflowInput {
  readonly request: ImageGenerationRequest;
  readonly account?: string;
  readonly creationKey?: string;
  readonly startLimit?: DurationInput;
  readonly policy?: CreatePolicy;
  /** Nothing is sent while a call with this very body and another key has an unknown fate. @default false */
  readonly refuseWhileUnconfirmed?: boolean;
  /** A person wants this very request sent again where the service refused it before under this key. @default false */
  readonly again?: boolean;
  readonly queues?: MediaQueues;
}

/** Input of the workflow `editImage`. */
export interface EditImageWorkflowInput extends Omit<GenerateImageWorkflowInput, 'request'> {
  readonly request: ImageEditRequest;
}

/** What a workflow of a caller's own says about an image call besides its request. */
export interface ImageCallOptions extends Omit<GenerateImageWorkflowInput, 'request' | 'queues'> {
  /** Task queue of the media workers, their `MEDIA_TASK_QUEUE`. @default that of `mediaActivities` */
  readonly taskQueue?: string;
}

export const QUEUES_KEYS = {
  create: true,
  poll: true,
  download: true,
  image: true,
} satisfies KeysOf<MediaQueues>;

/** What a wait takes, and what every workflow of a video takes. */
export const WAIT_KEYS = {
  waitFor: true,
  slowPolling: { after: true, interval: true } satisfies KeysOf<NonNullable<WaitOptions['slowPolling']>>,
} satisfies KeysOf<WaitOptions>;

const VIDEO_WORKFLOW_KEYS = {
  ...WAIT_KEYS,
  account: true,
  queues: QUEUES_KEYS,
  sidecarPrompt: true,
} satisfies KeysOf<VideoWorkflowOptions>;

export const GENERATE_VIDEO_KEYS = {
  ...VIDEO_WORKFLOW_KEYS,
  request: true,
  creationKey: true,
  startLimit: true,
  policy: CREATE_POLICY_KEYS,
  onUnconfirmed: true,
  refuseWhileUnconfirmed: true,
  again: true,
  carried: true,
} satisfies KeysOf<GenerateVideoInput>;

export const AWAIT_VIDEO_KEYS = {
  ...VIDEO_WORKFLOW_KEYS,
  video: VIDEO_TASK_KEYS,
  carried: true,
} satisfies KeysOf<AwaitVideoInput>;

/** The same for edits: the two differ in their requests, which activities validate. */
const IMAGE_KEYS = {
  request: true,
  account: true,
  creationKey: true,
  startLimit: true,
  policy: CREATE_POLICY_KEYS,
  refuseWhileUnconfirmed: true,
  again: true,
} satisfies KeysOf<Omit<GenerateImageWorkflowInput | EditImageWorkflowInput, 'queues'>>;

export const IMAGE_WORKFLOW_KEYS = { ...IMAGE_KEYS, queues: QUEUES_KEYS } satisfies KeysOf<
  GenerateImageWorkflowInput | EditImageWorkflowInput
>;

/** What the helpers for a caller's own workflow take: it names the task queue of the media workers and no other. */
export const IMAGE_CALL_KEYS = { ...IMAGE_KEYS, taskQueue: true } satisfies KeysOf<
  ImageCallOptions & { request: unknown }
>;
