import { type Check, must } from './shape';

/** Version of this package. Repeats package.json, because workflow code cannot read files. */
export const PACKAGE_VERSION = '0.2.0';

/** Memo field with the version of this package that started a workflow. */
export const VERSION_MEMO = 'mediaVersion';

/** The memo on every workflow that this package starts. A replay reads the version from it. */
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
  countBills: 'media.countBills',
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
  /** Paid calls that have not been sent yet, and why. Video, image and campaign workflows answer this query. */
  waits: 'waits',
  /** What a watcher knows about one video, and its complete state. */
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
  /** Reports that a task may be done. Sent to a video's workflow, or to its watcher with the workflow's id. */
  nudge: 'nudge',
} as const;

/** Update names. A video workflow has the first three; a campaign has all except `resubmit`. */
export const UPDATE = {
  adopt: 'adopt',
  declareLost: 'declareLost',
  resubmit: 'resubmit',
  pause: 'pause',
  resume: 'resume',
  cancel: 'cancel',
  setConcurrency: 'setConcurrency',
  setPriority: 'setPriority',
  raiseBudget: 'raiseBudget',
  resumeRows: 'resumeRows',
} as const;

/** Default task queue of the workflows, and base name of the activities' task queues. */
export const DEFAULT_TASK_QUEUE = 'temporal-media';

/** Maximum length of a workflow id or task queue name on a Temporal server, in characters. */
export const MAX_ID = 1_000;

/** Checks an id that a workflow command uses. The server would reject the workflow task if the id were invalid. */
export const idCheck: Check<string> = must(
  `a string of 1 to ${MAX_ID} characters`,
  (id) => typeof id === 'string' && id !== '' && id.length <= MAX_ID && !/\p{Cs}/u.test(id),
);

export const taskQueueCheck: Check<string> = (value, field) =>
  idCheck(value, field) ?? ownQueue(value, field);

const ownQueue = must(
  "one of your task queues, not one of Temporal's own",
  (queue) => !(queue as string).startsWith('/_sys/'),
);

/**
 * Returns the task queues that a media worker serves in addition to its own. Separate queues keep one kind of activity
 * from waiting behind another.
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

/**
 * Name of the error for workflow code that cannot be bundled with this package's workflows. Only the name crosses the
 * sandbox boundary.
 */
export const NOT_JOINED = 'WorkflowsNotJoined';

/** Credential used if a request does not name one. */
export const DEFAULT_CREDENTIAL = 'default';

/** Returns a worker's base task queue by removing the suffix of an activity queue. */
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
 * Memo field with a paid request's fingerprint, which is compared when a second caller attaches (architecture: Create).
 */
export const FINGERPRINT_MEMO = 'mediaFingerprint';

/** Memo field with the labels of a paid call or campaign. */
export const LABELS_MEMO = 'mediaLabels';

/** Failure type for a paid activity that refuses to run without a journal. Its details contain the attempt. */
export const UNSAFE_RETRY_POLICY = 'UnsafeRetryPolicy';

/** Failure type for a workflow, activity or Update with invalid input. Its message names the field. */
export const INVALID_INPUT = 'InvalidInput';

/** Failure type for an activity attempt that the retry policy repeats. Its details contain the error class. */
export const RETRY_LATER = 'MediaRetryLater';

/**
 * Cause of a `not_sent` answer: the journal has an outcome, and only the create itself can check whether that outcome
 * belongs to this request.
 */
export const RECORDED_BY_ANOTHER_RUN = 'recorded_by_another_run';

/**
 * Cause of a `not_sent` answer: the campaign batch that would have paid for the call is closed, or another run of the
 * batch is spending its money.
 */
export const BATCH_CLOSED = 'batch_closed';

/** A bug in this package. Used as a rejection reason, a cause and a failure type. */
export const INTERNAL_ERROR = 'internal_error';

/** A worker without a journal refused a call that its retry policy could send twice. Used as a reason and a cause. */
export const UNSAFE_RETRIES = 'unsafe_retry_policy';

/** Cause of a `not_sent` answer to a `recordedOnly` create that has no recorded answer. */
export const NOT_RECORDED = 'not_recorded';

/** Temporal's status for an execution that an operator paused. It continues when it is unpaused. */
export const PAUSED = 'PAUSED';

/** Whether an execution with this Temporal status is still open. A paused execution still occupies its id. */
export function isOpen(status: string): boolean {
  return status === 'RUNNING' || status === PAUSED;
}

/**
 * This package's search attributes. Codecs do not encrypt search attributes, so they never contain
 * a prompt. Starting a workflow with one of them opts in to all of them; see `isSearchable` in the workflows.
 */
export const SEARCH_ATTRIBUTE = {
  /** The workflow's outcome. Also `unconfirmed` while the workflow waits for a decision. */
  outcome: 'MediaOutcome',
  model: 'MediaModel',
  /** The credential passed at the start. Once a task exists, the task's account, `name@digest`. */
  account: 'MediaAccount',
  taskId: 'MediaTaskId',
  /** The campaign's id, on the campaign and its batches. */
  campaign: 'MediaCampaign',
  /** The labels passed at the start, as `name=value`. The only one that is a KeywordList. */
  labels: 'MediaLabels',
} as const;

type Keyword = Exclude<keyof typeof SEARCH_ATTRIBUTE, 'labels'>;

export type SearchFacts = { readonly [fact in Keyword]?: string } & { readonly labels?: readonly string[] };

export const SEARCH_ATTRIBUTES: readonly string[] = Object.values(SEARCH_ATTRIBUTE);

/** Returns the type with which a search attribute is registered. */
export function searchAttributeType(name: string): 'KEYWORD' | 'KEYWORD_LIST' {
  return name === SEARCH_ATTRIBUTE.labels ? 'KEYWORD_LIST' : 'KEYWORD';
}

export function searchPairs({
  labels = [],
  ...facts
}: SearchFacts): readonly (readonly [name: string, value: string | string[]])[] {
  const keywords = Object.entries(facts).flatMap(([fact, value]) =>
    // An untyped caller may have put anything into its request.
    typeof value !== 'string' ? [] : [[SEARCH_ATTRIBUTE[fact as Keyword], value] as const],
  );
  return labels.length === 0 ? keywords : [...keywords, [SEARCH_ATTRIBUTE.labels, [...labels]]];
}

/**
 * The parts that a worker on task queue NAME can serve: `workflows` on NAME, and the activities on NAME/create,
 * NAME/poll, NAME/download and NAME/image. `create` includes the activities on NAME, which read the journal and
 * manifests.
 */
export const SERVED_PARTS = ['workflows', 'create', 'poll', 'download', 'image'] as const;

/** One of a worker's parts. */
export type ServedPart = (typeof SERVED_PARTS)[number];

/** Kinds of activities that have their own task queue. */
export type ActivityQueueKind = keyof ReturnType<typeof activityQueues>;

/** The workflows and activities that a worker serves, derived from its parts. */
export interface Served {
  readonly workflows: boolean;
  /** Whether the worker serves the activities on the base queue itself. */
  readonly ownActivities: boolean;
  /** Activity queues. Their activities need the API key and both stores; workflows need none of these. */
  readonly kinds: readonly ActivityQueueKind[];
}

export function servedBy(parts: readonly ServedPart[]): Served {
  return {
    workflows: parts.includes('workflows'),
    ownActivities: parts.includes('create'),
    kinds: parts.filter((part) => part !== 'workflows'),
  };
}

/** Returns the problem with a list of worker parts, or undefined if it is valid. */
export function partsProblem(parts: readonly string[]): string | undefined {
  const unknown = parts.find((part) => !(SERVED_PARTS as readonly string[]).includes(part));
  if (parts.length > 0 && unknown === undefined) return undefined;
  const allowed = `must name one or more of ${SERVED_PARTS.join(', ')}`;
  return unknown === undefined ? `${allowed}.` : `${allowed}. "${unknown}" is not one of them.`;
}

/** Prefix of a campaign note that says what its rows are waiting for. */
export const ROWS_WAIT = 'Rows waiting: ';

const IMAGE_WORKFLOWS: ReadonlySet<unknown> = new Set([WORKFLOW.generateImage, WORKFLOW.editImage]);
const IMAGE_ACTIVITIES: ReadonlySet<unknown> = new Set([ACTIVITY.generateImage, ACTIVITY.editImage]);

/** Whether a workflow's type is that of an image call. */
export const isImageWorkflow = (type: unknown): boolean => IMAGE_WORKFLOWS.has(type);

/** Whether an activity's type is that of an image call. */
export const isImageActivity = (type: unknown): boolean => IMAGE_ACTIVITIES.has(type);

/** Returns the credential in an account's name, which may be full (`name@digest`). */
export function credentialOf(account: string): string {
  const end = account.lastIndexOf('@');
  return end === -1 ? account : account.slice(0, end);
}
