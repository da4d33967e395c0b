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

/** Longest task id that is accepted, in characters (failure model: row 33). */
export const MAX_TASK_ID_LENGTH = 512;

/**
 * Whether a value from the wire is usable as a task id. Accepted ids are percent-encoded in paths (failure model: row
 * 33).
 */
export function isUsableTaskId(value: unknown): value is string {
  return isName(value, MAX_TASK_ID_LENGTH) && value !== '.' && value !== '..';
}

export const taskIdCheck: Check<string> = must(
  `the id of a task at the service, a text of at most ${MAX_TASK_ID_LENGTH} characters`,
  isUsableTaskId,
);

/** How often one model family is polled (contract 8): general 3-5 s, a third family about 10 s, the slow one 10-15 s. */
export interface PollingProfile {
  /** Shortest time between two polls of one task, jitter included, in seconds. */
  readonly minSeconds: number;
  /** Longest time between two polls while there are no errors, in seconds. */
  readonly maxSeconds: number;
  /** Time from creation to the first poll, in seconds. */
  readonly firstPollSeconds: number;
}

/** The contract has no family that is polled faster (C8.2). */
export const LEAST_POLL_SECONDS = 3;
/** A day. Longer intervals would not be polling, and absurd numbers do not fit into a timer. */
export const MOST_POLL_SECONDS = 86_400;

const seconds = (least: number): Check<number> => amount(least, MOST_POLL_SECONDS);

const pollingProfileCheck: Check<PollingProfile> = (value, field) =>
  messageOf<PollingProfile>({
    minSeconds: seconds(LEAST_POLL_SECONDS),
    maxSeconds: seconds(LEAST_POLL_SECONDS),
    firstPollSeconds: seconds(0),
  })(value, field) ??
  must<PollingProfile>('a profile in which minSeconds does not exceed maxSeconds', (profile) => {
    const { minSeconds, maxSeconds } = profile as PollingProfile;
    return minSeconds <= maxSeconds;
  })(value, field);

/** Who polls a video: its own workflow, or a watcher that polls many. */
export type PollingMode = 'own' | 'shared';

/** The general family of contract section 8: 4 s with one second of jitter either way. */
export const DEFAULT_POLLING: PollingProfile = { minSeconds: 3, maxSeconds: 5, firstPollSeconds: 4 };

/** Key of a cadence band: tasks of one account and one band share a timer and an activity (architecture: Wait). */
export function bandKey(profile: PollingProfile): string {
  return `${profile.minSeconds}-${profile.maxSeconds}`;
}

/**
 * Facts recorded right after the create reply, used by every later poll, download and outcome. A fact is null, with
 * `source: 'unknown'`, if only the task's id was known when it was adopted.
 */
export interface VideoTask {
  /** Opaque id from the create reply; never replaced by a later record. */
  readonly taskId: string;
  /** Public model id. */
  readonly model: string | null;
  /** Requested seconds; null if the request named none. */
  readonly durationSeconds: number | null;
  /** Requested resolution; null if the request named none. */
  readonly resolution: string | null;
  /** `none`, or kinds with counts such as `image:2+audio:1`. */
  readonly referenceMode: string | null;
  /** Credential name + `@` + the first 8 hex digits of the SHA-256 of the normalised base address. */
  readonly account: string;
  /** How often it is polled. */
  readonly polling: PollingProfile;
  /** ISO 8601 time at which the reply was read. */
  readonly createdAt: string | null;
  /** Where the facts come from. */
  readonly source: 'create_reply' | 'journal' | 'unknown';
}

/** Longest text of a fact, in characters: one more, and no search attribute can contain it. */
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

/** Checks a stored task that a caller passes back, perhaps untyped: its id, and any of its other facts. */
export const storedTaskCheck = objectOf<VideoTask | { readonly taskId: string }>({
  ...partialOf<VideoTask>(VIDEO_TASK),
  taskId: taskIdCheck,
});

/** Returns a task with only its id known: adopted, or resumed without a journal (architecture: Requests). */
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

/** Class of a service failure, which decides the next step (contract 7; moderation is tested first). */
export type ErrorKind = 'moderation' | 'capacity' | 'invalid' | 'quota' | 'unknown';

/**
 * An error that the service reported, with URLs and keys removed and the text shortened. The full error appears only in
 * outcomes; failures, logs and details contain `kind` and `code` (architecture: Stores).
 */
export interface TaskError {
  /** Determines what can help: see docs/failures.md. */
  readonly kind: ErrorKind;
  /** The service's own code; null when it sent none. */
  readonly code: string | null;
  /** The service's text; null when it sent none. */
  readonly message: string | null;
}
