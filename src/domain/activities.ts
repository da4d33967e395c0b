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
  /** Credential name, or `name@digest`. @default the account in the journal's record, else the worker's own */
  readonly account?: string;
  /** Also sends one GET for the task's record to the service. For a task that no workflow polls. @default false */
  readonly askService?: boolean;
}

export const FIND_VIDEO_TASK_SHAPE = {
  taskId: taskIdCheck,
  account: optional(name()),
  askService: optional(flag),
} satisfies ShapeOf<FindVideoTaskInput>;

/** The service's view of a task. Never contains a URL or the text of its error (architecture: Stores). */
export type ServiceView =
  | {
      readonly known: true;
      /** HTTP status of the reply with the record. */
      readonly httpStatus: number;
      /** The service's status value, unchanged. */
      readonly status: string;
      /** What it means. */
      readonly phase: TaskPhase;
      /** Absent if the service sent no number. */
      readonly progress?: number;
      /** Absent unless the service failed the task. */
      readonly errorKind?: ErrorKind;
    }
  | { readonly known: false; readonly error: PollErrorClass; readonly httpStatus?: number };

/** Origin of a task, as far as this worker's journal knows it. */
export interface FoundVideoTask {
  /** Facts for polling: from the journal, or built from the id and the worker's account. */
  readonly video: VideoTask;
  /** The call that created it; null if the journal does not have the task. */
  readonly creationKey: string | null;
  /** The workflow that created it; null if the journal does not have the task. */
  readonly workflowId: string | null;
  /** The run that created it; null if the journal does not have the task. */
  readonly runId: string | null;
  /** How this worker has videos polled if their input does not say. @default 'own' */
  readonly polling?: PollingMode;
  /** Set only with `askService`. */
  readonly service?: ServiceView;
}

/** A worker's artifact store. Stores with the same id contain the same files. */
export interface ArtifactStoreFacts {
  /** Null for a store that has no id. */
  readonly storeId: string | null;
}

/** Activity types and signatures without their code, so that workflow code may import them (architecture: Folders). */
export interface MediaActivities extends CampaignActivities {
  /** Sends one create, at most once per creation key (failure model: The log). */
  [ACTIVITY.createVideo](input: CreateVideoInput): Promise<CreateVideoAnswer>;
  /** Finds out what happened to a create after its answer was lost. Sends nothing that is paid. */
  [ACTIVITY.reconcileCreate](input: ReconcileCreateInput): Promise<CreateVideoAnswer>;
  /** Looks up a task id in the journal and, with `askService`, at the service. */
  [ACTIVITY.findVideoTask](input: FindVideoTaskInput): Promise<FoundVideoTask>;
  /** Returns the worker's artifact store. */
  [ACTIVITY.artifactStore](): Promise<ArtifactStoreFacts>;
  /** Reads the records of any number of tasks, one GET each. */
  [ACTIVITY.pollVideos](input: PollVideosInput): Promise<PollVideosResult>;
  /** Joins a video to its watcher, and stays open until the watcher completes it. */
  [ACTIVITY.watchVideo](input: WatchVideoInput): Promise<WatchAnswer>;
  /** Completes the activities of videos whose watch has ended. */
  [ACTIVITY.tellVideos](input: TellVideosInput): Promise<void>;
  /** Fetches finished videos with one try each, and completes each video's activity as soon as its file is stored. */
  [ACTIVITY.deliverVideos](input: DeliverVideosInput): Promise<void>;
  /** Downloads, verifies and stores the result of one task; a later try resumes. */
  [ACTIVITY.downloadVideo](input: DownloadVideoInput): Promise<DownloadVideoResult>;
  /** Buys images once per creation key, then fetches and stores them. */
  [ACTIVITY.generateImage](input: GenerateImageInput): Promise<ImageOutcome>;
  /** Buys an edit once per creation key, then fetches and stores the images. */
  [ACTIVITY.editImage](input: EditImageInput): Promise<ImageOutcome>;
  /** Records a decision about a call of unknown fate. */
  [ACTIVITY.resolveUnconfirmed](input: ResolveUnconfirmedCall): Promise<ResolveUnconfirmedResult>;
  /** Reads one page of the journal. */
  [ACTIVITY.reviewJournal](input: ReviewJournalInput): Promise<ReviewJournalPage>;
}
