import { type Check, must } from './shape';

/** Version of this package, as in package.json: workflow code reads no files. */
export const PACKAGE_VERSION = '0.2.0';

/** Memo field with the version of this package that started a workflow. */
export const VERSION_MEMO = 'mediaVersion';

/** Memo of every workflow that this package starts. A replay reports the version from it. */
export const STARTED_BY = { [VERSION_MEMO]: PACKAGE_VERSION } as const;

/**
 * Names that other processes, histories and operators' scripts rely on.
 * They are public API: changing one breaks running workflows.
 */

/** Activity types (architecture: Names). */
export const ACTIVITY = {
  createVideo: 'media.createVideo',
  reconcileCreate: 'media.reconcileCreate',
  findVideoTask: 'media.findVideoTask',
  artifactStore: 'media.artifactStore',
  pollVideos: 'media.pollVideos',
  watchVideo: 'media.watchVideo',
  tellVideos: 'media.tellVideos',
  deliverVideos: 'media.deliverVideos',
  downloadVideo: 'media.downloadVideo',
  generateImage: 'media.generateImage',
  editImage: 'media.editImage',
  resolveUnconfirmed: 'media.resolveUnconfirmed',
  reviewJournal: 'media.reviewJournal',
  planCampaign: 'media.planCampaign',
  openPage: 'media.openPage',
  createVideos: 'media.createVideos',
  downloadVideos: 'media.downloadVideos',
  campaignImage: 'media.campaignImage',
  recordRows: 'media.recordRows',
  foldResults: 'media.foldResults',
  keepBooks: 'media.keepBooks',
  settleBatch: 'media.settleBatch',
} as const;

/** Workflow types (architecture: Names). */
export const WORKFLOW = {
  generateVideo: 'generateVideo',
  awaitVideo: 'awaitVideo',
  generateImage: 'generateImage',
  editImage: 'editImage',
  findVideoTask: 'findVideoTask',
  artifactStore: 'artifactStore',
  resolveUnconfirmed: 'resolveUnconfirmed',
  reviewJournal: 'reviewJournal',
  runCampaign: 'runCampaign',
  campaignBatch: 'campaignBatch',
  watchVideos: 'watchVideos',
} as const;

const WORKFLOWS: ReadonlySet<string> = new Set(Object.values(WORKFLOW));

export const isMediaWorkflow = (type: string): boolean => WORKFLOWS.has(type);

/** Query names. */
export const QUERY = {
  videoState: 'video_state',
  campaignState: 'campaign_state',
  batchState: 'batch_state',
  /** Paid calls that are not sent yet, and why. Answered by video, image and campaign workflows. */
  waits: 'waits',
  /** What a watcher knows about one video, and everything that it stores. */
  watchState: 'watch_state',
  watchSnapshot: 'watch_snapshot',
} as const;

/**
 * Signals between a campaign and its batches (see `campaign/messages`), and between videos and their watcher (see
 * `watcher`).
 */
export const SIGNAL = {
  campaignOrders: 'campaign_orders',
  campaignReport: 'campaign_report',
  watchJoin: 'watch_join',
  watchLeave: 'watch_leave',
  /** Says that a task may be done. Sent to a video's workflow, or to its watcher with the workflow's id. */
  nudge: 'nudge',
} as const;

/** Names of the Updates. A video workflow has the first three; a campaign has all except `resubmit`. */
export const UPDATE = {
  adopt: 'adopt',
  declareLost: 'declareLost',
  resubmit: 'resubmit',
  pause: 'pause',
  resume: 'resume',
  cancel: 'cancel',
  setConcurrency: 'setConcurrency',
  raiseBudget: 'raiseBudget',
  resumeRows: 'resumeRows',
} as const;

/** Task queue of the workflows and, unless configured otherwise, of the activities. */
export const DEFAULT_TASK_QUEUE = 'temporal-media';

/** Longest workflow id or task queue name that a Temporal server accepts, in characters. */
export const MAX_ID = 1_000;

/** Checks an id that a workflow command uses. With any other id, the server would reject the workflow task. */
export const idCheck: Check<string> = must(
  `a text of 1 to ${MAX_ID} characters`,
  (id) => typeof id === 'string' && id !== '' && id.length <= MAX_ID && !/\p{Cs}/u.test(id),
);

export const taskQueueCheck: Check<string> = (value, field) =>
  idCheck(value, field) ?? ownQueue(value, field);

const ownQueue = must('a task queue of yours', (queue) => !(queue as string).startsWith('/_sys/'));

/**
 * Queues that a media worker serves in addition to its own, so that one kind of activity never waits behind another.
 */
export function activityQueues(taskQueue: string): {
  readonly [kind in 'create' | 'poll' | 'download' | 'image']: string;
} {
  return {
    create: `${taskQueue}/create`,
    poll: `${taskQueue}/poll`,
    download: `${taskQueue}/download`,
    image: `${taskQueue}/image`,
  };
}

/** Name of the error for a bundle that cannot join workflows. Only the name crosses the sandbox boundary. */
export const NOT_JOINED = 'WorkflowsNotJoined';

/** Credential used when a request names none. */
export const DEFAULT_CREDENTIAL = 'default';

/** Base queue of a worker: removes the suffix of an activity queue. */
export function baseTaskQueue(taskQueue: string): string {
  return taskQueue.replace(/(?:\/(?:create|poll|download|image))+$/, '');
}

/**
 * Returns the id of the schedule that binds a task queue and its activity queues to one journal (architecture: Create).
 */
export function mediaJournalScheduleId(taskQueue: string): string {
  return `media-journal/${baseTaskQueue(taskQueue)}`;
}

/**
 * Memo field of a paid start: the fingerprint of the request, compared when a second caller attaches
 * (architecture: Create).
 */
export const FINGERPRINT_MEMO = 'mediaFingerprint';

/** Failure type of a paid activity that refuses to run without a journal; its details contain the attempt. */
export const UNSAFE_RETRY_POLICY = 'UnsafeRetryPolicy';

/** Failure type of a workflow, an activity or an Update that cannot use its input; its message names the field. */
export const INVALID_INPUT = 'InvalidInput';

/** Failure type of an activity that its own retry policy runs again; its details contain the error class. */
export const RETRY_LATER = 'MediaRetryLater';

/**
 * Cause of a `not_sent` answer: an outcome is recorded, and only the create itself can check whether it belongs to
 * this request.
 */
export const RECORDED_BY_ANOTHER_RUN = 'recorded_by_another_run';

/**
 * Cause of a `not_sent` answer: the campaign batch that should pay for the call is closed, or another run of the batch
 * is spending its money.
 */
export const BATCH_CLOSED = 'batch_closed';

/** A bug in this package: a reason, a cause, and the type of a failure. */
export const INTERNAL_ERROR = 'internal_error';

/** A worker without a journal refused a call that its retry policy could send twice: a reason and a cause. */
export const UNSAFE_RETRIES = 'unsafe_retry_policy';

/** Cause of a `not_sent` answer to a `recordedOnly` create: nothing is recorded. */
export const NOT_RECORDED = 'not_recorded';

/** Temporal's status of an execution that an operator has paused; it continues when it is unpaused. */
export const PAUSED = 'PAUSED';

/** Whether an execution with this Temporal status has not ended. A paused execution still occupies its id. */
export function isOpen(status: string): boolean {
  return status === 'RUNNING' || status === PAUSED;
}

/**
 * Search attributes of this package, all of the type Keyword. Codecs do not encrypt them, so none contains a prompt. A
 * workflow that is started with one of them opts in to all; see `isSearchable` in the workflows.
 */
export const SEARCH_ATTRIBUTE = {
  /** How the workflow ended; `unconfirmed` also while it waits for a decision. */
  outcome: 'MediaOutcome',
  model: 'MediaModel',
  /** The credential given at the start. Once a task exists, the task's account, `name@digest`. */
  account: 'MediaAccount',
  taskId: 'MediaTaskId',
  /** Id of the campaign, on itself and on its batches. */
  campaign: 'MediaCampaign',
} as const;

export type SearchFacts = { readonly [fact in keyof typeof SEARCH_ATTRIBUTE]?: string };

export const SEARCH_ATTRIBUTES: readonly string[] = Object.values(SEARCH_ATTRIBUTE);

export function searchPairs(facts: SearchFacts): readonly (readonly [name: string, value: string])[] {
  return Object.entries(facts).flatMap(([fact, value]) =>
    // A caller without types may have put anything into its request.
    typeof value !== 'string' ? [] : [[SEARCH_ATTRIBUTE[fact as keyof SearchFacts], value] as const],
  );
}

/**
 * What a worker of a task queue NAME can serve: `workflows` on NAME, and the activities on NAME/create, NAME/poll,
 * NAME/download and NAME/image. With `create`, also the activities on NAME, which read the journal and manifests.
 */
export const SERVED_PARTS = ['workflows', 'create', 'poll', 'download', 'image'] as const;

/** A part of a worker. */
export type ServedPart = (typeof SERVED_PARTS)[number];

/** Kinds of activities with a task queue of their own. */
export type ActivityQueueKind = keyof ReturnType<typeof activityQueues>;

/** What follows from the parts that a worker serves. */
export interface Served {
  readonly workflows: boolean;
  /** Activities on the queue itself. */
  readonly ownActivities: boolean;
  /** Activity queues. All of their activities need the key and both stores; workflows need neither. */
  readonly kinds: readonly ActivityQueueKind[];
}

export function servedBy(parts: readonly ServedPart[]): Served {
  return {
    workflows: parts.includes('workflows'),
    ownActivities: parts.includes('create'),
    kinds: parts.filter((part) => part !== 'workflows'),
  };
}

/** Returns why these are not valid worker parts; undefined if they are. */
export function partsProblem(parts: readonly string[]): string | undefined {
  const unknown = parts.find((part) => !(SERVED_PARTS as readonly string[]).includes(part));
  if (parts.length > 0 && unknown === undefined) return undefined;
  const allowed = `must name one or more of ${SERVED_PARTS.join(', ')}`;
  return unknown === undefined ? `${allowed}.` : `${allowed}; "${unknown}" is none of them.`;
}

/** First words of a campaign note about what its rows are waiting for. */
export const ROWS_WAIT = 'Rows wait: ';
