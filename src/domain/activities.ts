import { type ACTIVITY } from './names';
import { type DownloadVideoInput, type DownloadVideoResult } from './download';
import { type ImageOutcome } from './outcome';
import {
  type CreateVideoAnswer,
  type CreateVideoInput,
  type EditImageInput,
  type GenerateImageInput,
  type ReconcileCreateInput,
} from './paid-call';
import { type PollVideosInput, type PollVideosResult } from './poll-answers';
import { type VideoTask } from './video-task';

/** Input of `media.findVideoTask`: what the journal's index knows about a task id. */
export interface FindVideoTaskInput {
  readonly taskId: string;
  readonly account?: string;
}

/** Where a task came from, when the journal of this worker has it. */
export interface FoundVideoTask {
  /** Facts for polling: from the journal, or by the id alone with the worker's account. */
  readonly video: VideoTask;
  readonly creationKey: string | null;
  readonly workflowId: string | null;
  readonly runId: string | null;
}

/** Activity types and shapes, without their code: what workflow code may know (design 3). */
export interface MediaActivities {
  [ACTIVITY.createVideo](input: CreateVideoInput): Promise<CreateVideoAnswer>;
  [ACTIVITY.reconcileCreate](input: ReconcileCreateInput): Promise<CreateVideoAnswer>;
  [ACTIVITY.findVideoTask](input: FindVideoTaskInput): Promise<FoundVideoTask>;
  [ACTIVITY.pollVideos](input: PollVideosInput): Promise<PollVideosResult>;
  [ACTIVITY.downloadVideo](input: DownloadVideoInput): Promise<DownloadVideoResult>;
  [ACTIVITY.generateImage](input: GenerateImageInput): Promise<ImageOutcome>;
  [ACTIVITY.editImage](input: EditImageInput): Promise<ImageOutcome>;
}
