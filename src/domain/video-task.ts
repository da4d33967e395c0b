import {
  amount,
  type Check,
  isName,
  messageOf,
  must,
  name,
  objectOf,
  oneOf,
  orNull,
  partialOf,
  type ShapeOf,
  text,
} from './shape';

/** Maximum length of a task id, in characters (failure model: row 33). */
export const MAX_TASK_ID_LENGTH = 512;

/**
 * Whether a value from a reply can be used as a task id. Accepted ids are percent-encoded in paths (failure model: row
 * 33).
 */
export function isUsableTaskId(value: unknown): value is string {
  return isName(value, MAX_TASK_ID_LENGTH) && value !== '.' && value !== '..';
}

export const taskIdCheck: Check<string> = must(
  `the id of a task at the service, a string of at most ${MAX_TASK_ID_LENGTH} characters`,
  isUsableTaskId,
);

/**
 * How often a model family is polled (contract 8): every 3-5 s for most families, about every 10 s for another, and
 * every 10-15 s for the slow one.
 */
export interface PollingProfile {
  /** Shortest time between two polls of one task, jitter included, in seconds. */
  readonly minSeconds: number;
  /** Longest time between two polls while there are no errors, in seconds. */
  readonly maxSeconds: number;
  /** Time from creation to the first poll, in seconds. */
  readonly firstPollSeconds: number;
}

/** Shortest polling interval that the contract defines for any family, in seconds (C8.2). */
export const LEAST_POLL_SECONDS = 3;
/** One day. Longer intervals would hardly be polling, and absurdly large numbers do not fit into a timer. */
export const MOST_POLL_SECONDS = 86_400;

const seconds = (least: number): Check<number> => amount(least, MOST_POLL_SECONDS);

const pollingProfileCheck: Check<PollingProfile> = (value, field) =>
  messageOf<PollingProfile>({
    minSeconds: seconds(LEAST_POLL_SECONDS),
    maxSeconds: seconds(LEAST_POLL_SECONDS),
    firstPollSeconds: seconds(0),
  })(value, field) ??
  must<PollingProfile>('a profile whose minSeconds does not exceed maxSeconds', (profile) => {
    const { minSeconds, maxSeconds } = profile as PollingProfile;
    return minSeconds <= maxSeconds;
  })(value, field);

/** Who polls a video: its own workflow, or a watcher that polls many. */
export type PollingMode = 'own' | 'shared';

/** Profile for the general family in contract section 8: 4 s, with one second of jitter in either direction. */
export const DEFAULT_POLLING: PollingProfile = { minSeconds: 3, maxSeconds: 5, firstPollSeconds: 4 };

/** Returns a band's key. Tasks with the same account and band share a timer and an activity (architecture: Wait). */
export function bandKey(profile: PollingProfile): string {
  return `${profile.minSeconds}-${profile.maxSeconds}`;
}

/**
 * Facts recorded right after the create reply, used by every later poll, download and outcome. If the task was adopted
 * by its id alone, the other facts are null and `source` is `'unknown'`.
 */
export interface VideoTask {
  /** Opaque id from the create reply. A later record never replaces it. */
  readonly taskId: string;
  /** Public model id. */
  readonly model: string | null;
  /** Requested seconds; null if the request did not set them. */
  readonly durationSeconds: number | null;
  /** Requested resolution; null if the request did not set it. */
  readonly resolution: string | null;
  /** `none`, or kinds with counts such as `image:2+audio:1`. */
  readonly referenceMode: string | null;
  /** Credential name + `@` + the first 8 hex digits of the SHA-256 of the normalized base address. */
  readonly account: string;
  /** How often the task is polled. */
  readonly polling: PollingProfile;
  /** When the reply was read, ISO 8601. */
  readonly createdAt: string | null;
  /** Where the facts come from. */
  readonly source: 'create_reply' | 'journal' | 'unknown';
}

/** Maximum length of a fact, in characters. A search attribute cannot contain a longer one. */
const MAX_FACT = 2_000;

const VIDEO_TASK = {
  taskId: taskIdCheck,
  model: orNull(text(MAX_FACT)),
  durationSeconds: orNull(amount(0)),
  resolution: orNull(text(MAX_FACT)),
  referenceMode: orNull(text(MAX_FACT)),
  account: name(),
  polling: pollingProfileCheck,
  createdAt: orNull(text(MAX_FACT)),
  source: oneOf('create_reply', 'journal', 'unknown'),
} satisfies ShapeOf<VideoTask>;

export const videoTaskCheck: Check<VideoTask> = messageOf(VIDEO_TASK);

/** Checks a stored task that a caller, possibly untyped, passes back: its id and any other facts that are present. */
export const storedTaskCheck = objectOf<VideoTask | { readonly taskId: string }>({
  ...partialOf<VideoTask>(VIDEO_TASK),
  taskId: taskIdCheck,
});

/** Returns a task for which only the id is known: adopted, or resumed without a journal (architecture: Requests). */
export function videoTaskById(
  taskId: string,
  account: string,
  polling: PollingProfile = DEFAULT_POLLING,
): VideoTask {
  return {
    taskId,
    model: null,
    durationSeconds: null,
    resolution: null,
    referenceMode: null,
    account,
    polling,
    createdAt: null,
    source: 'unknown',
  };
}

/** Class of a service failure, which determines the next step (contract 7). Moderation is checked first. */
export type ErrorKind = 'moderation' | 'capacity' | 'invalid' | 'quota' | 'unknown';

/**
 * An error that the service reported, with URLs and keys removed and the text truncated. Only outcomes contain the
 * whole object; failures, logs and details contain just `kind` and `code` (architecture: Stores).
 */
export interface TaskError {
  /** Determines what can help; see docs/failures.md. */
  readonly kind: ErrorKind;
  /** The service's error code; null if it sent none. */
  readonly code: string | null;
  /** The service's error message; null if it sent none. */
  readonly message: string | null;
}
