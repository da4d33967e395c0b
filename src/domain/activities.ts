import { type CampaignActivities } from './campaign/campaign-activities';
import { type DownloadVideoInput, type DownloadVideoResult } from './download';
import { type ACTIVITY } from './names';
import { type ImageOutcome } from './outcome';
import {
  type CreateVideoAnswer,
  type CreateVideoInput,
  type EditImageInput,
  type GenerateImageInput,
  type ReconcileCreateInput,
} from './paid-call';
import {
  type PollErrorClass,
  type PollVideosInput,
  type PollVideosResult,
  type TaskPhase,
} from './poll-answers';
import { flag, name, optional, type ShapeOf } from './shape';
import {
  type ResolveUnconfirmedCall,
  type ResolveUnconfirmedResult,
  type ReviewJournalInput,
  type ReviewJournalPage,
} from './unconfirmed-decision';
import { type ErrorKind, type PollingMode, taskIdCheck, type VideoTask } from './video-task';
import {
  type DeliverVideosInput,
  type TellVideosInput,
  type WatchAnswer,
  type WatchVideoInput,
} from './watcher';

/** Input of `media.findVideoTask`, which looks up a task id in the journal's index. */
export interface FindVideoTaskInput {
  /** The task at the service. */
  readonly taskId: string;
  /** Credential name, or `name@digest`. @default the account in the journal's record, or else the worker's default */
  readonly account?: string;
  /**
   * Also requests the task's record from the service with one GET. Intended for a task that no workflow polls. @default
   * false
   */
  readonly askService?: boolean;
}

export const FIND_VIDEO_TASK_SHAPE = {
  taskId: taskIdCheck,
  account: optional(name()),
  askService: optional(flag),
} satisfies ShapeOf<FindVideoTaskInput>;

/** The service's view of a task. Never contains a URL or the service's error text (architecture: Stores). */
export type ServiceView =
  | {
      readonly known: true;
      /** HTTP status of the reply with the record. */
      readonly httpStatus: number;
      /** The status that the service reported, unchanged. */
      readonly status: string;
      /** What the status means. */
      readonly phase: TaskPhase;
      /** Absent if the service sent no number. */
      readonly progress?: number;
      /** Absent unless the task failed at the service. */
      readonly errorKind?: ErrorKind;
    }
  | { readonly known: false; readonly error: PollErrorClass; readonly httpStatus?: number };

/** Where a task came from, according to this worker's journal. */
export interface FoundVideoTask {
  /** What polling needs to know, either from the journal or derived from the id and the worker's account. */
  readonly video: VideoTask;
  /** Creation key of the call that created it; null if the journal does not have the task. */
  readonly creationKey: string | null;
  /** The workflow that created it; null if the journal does not have the task. */
  readonly workflowId: string | null;
  /** The run that created it; null if the journal does not have the task. */
  readonly runId: string | null;
  /** This worker's polling mode for videos whose input does not set one. @default 'own' */
  readonly polling?: PollingMode;
  /** Set only with `askService`. */
  readonly service?: ServiceView;
}

/** A worker's artifact store. Stores with the same id contain the same files. */
export interface ArtifactStoreFacts {
  /** Null if the store has no id. */
  readonly storeId: string | null;
}

/** Activity types and signatures without their code, so that workflow code can import them (architecture: Folders). */
export interface MediaActivities extends CampaignActivities {
  /** Sends one create, at most once per creation key (failure model: The log). */
  [ACTIVITY.createVideo](input: CreateVideoInput): Promise<CreateVideoAnswer>;
  /** Finds out what happened to a create whose answer was lost. Makes no paid calls. */
  [ACTIVITY.reconcileCreate](input: ReconcileCreateInput): Promise<CreateVideoAnswer>;
  /** Looks up a task id in the journal and, with `askService`, in the service. */
  [ACTIVITY.findVideoTask](input: FindVideoTaskInput): Promise<FoundVideoTask>;
  /** Returns the id of the worker's artifact store. */
  [ACTIVITY.artifactStore](): Promise<ArtifactStoreFacts>;
  /** Reads the records of any number of tasks, with one GET each. */
  [ACTIVITY.pollVideos](input: PollVideosInput): Promise<PollVideosResult>;
  /** Registers a video with its watcher. The activity stays open until the watcher completes it. */
  [ACTIVITY.watchVideo](input: WatchVideoInput): Promise<WatchAnswer>;
  /** Completes the `media.watchVideo` activities of videos whose watch has ended. */
  [ACTIVITY.tellVideos](input: TellVideosInput): Promise<void>;
  /** Makes one download attempt per finished video, and completes a video's activity as soon as its file is stored. */
  [ACTIVITY.deliverVideos](input: DeliverVideosInput): Promise<void>;
  /** Downloads, verifies and stores the result of one task. A later attempt resumes the download. */
  [ACTIVITY.downloadVideo](input: DownloadVideoInput): Promise<DownloadVideoResult>;
  /** Buys images once per creation key, then fetches and stores them. */
  [ACTIVITY.generateImage](input: GenerateImageInput): Promise<ImageOutcome>;
  /** Buys an edit once per creation key, then fetches and stores the images. */
  [ACTIVITY.editImage](input: EditImageInput): Promise<ImageOutcome>;
  /** Records a decision about a call with an unknown outcome. */
  [ACTIVITY.resolveUnconfirmed](input: ResolveUnconfirmedCall): Promise<ResolveUnconfirmedResult>;
  /** Reads one page of the journal. */
  [ACTIVITY.reviewJournal](input: ReviewJournalInput): Promise<ReviewJournalPage>;
}
