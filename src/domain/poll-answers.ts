import { type JsonValue } from './json';
import { type TaskError } from './video-task';

/** One model's tasks in a tick. */
export interface PollBatch {
  readonly model: string | null;
  readonly ids: readonly string[];
  /** `seen[i]` is the digest of the last record of `ids[i]` that crossed, `''` for none. Empty beside `seenRuns`. */
  readonly seen: readonly string[];
  /** The same digests, each with how many tasks in a row have it. */
  readonly seenRuns?: readonly (readonly [digest: string, tasks: number])[];
}

/** One tick of one group: one account, one cadence band (architecture: Poll). */
export interface PollVideosInput {
  readonly account: string;
  /** Soft budget in milliseconds: tasks without an answer by then are `late`. */
  readonly budgetMs: number;
  /** Shortest time between two polls of one task, in milliseconds: the floor that the worker keeps (C8.2). */
  readonly minIntervalMs: number;
  /** Absent: all tasks are asked for as soon as they can be. */
  readonly spread?: PollSpread;
  readonly byModel: readonly PollBatch[];
}

/** How the GETs of one tick are spread, in milliseconds. */
export interface PollSpread {
  /** From one poll of a task to the next, as far as the tick allows. */
  readonly everyMs: number;
  /** Part of the tick, from its beginning, in which all GETs are sent. */
  readonly overMs: number;
}

/** What of a service's record crosses into workflow code: never a URL (architecture: Poll). */
export interface PolledRecord {
  /** The service's own word, lower case. */
  readonly status: string;
  readonly phase: TaskPhase;
  /** Present only when the record holds a finite number from 0 to 100 (C2.2.3). */
  readonly progress?: number;
  readonly usage?: JsonValue;
  readonly reported?: ReportedFacts;
  readonly error?: TaskError;
  /** Until when the service keeps the result, in ISO 8601; only of a completed task, and where the record says so. */
  readonly expiresAt?: string;
}

/** Meaning of a status word. `unknown` is reported and is not final (C2.2.2). */
export type TaskPhase = 'queued' | 'in_progress' | 'completed' | 'failed' | 'unknown';

/** What the service says it made; kept apart from what was requested (C2.2.5). */
export interface ReportedFacts {
  readonly model?: string;
  readonly resolution?: string;
  readonly durationSeconds?: number;
  readonly fps?: number;
}

/** Every reason why a poll brought no record. */
export const POLL_ERROR_CLASSES = [
  'rate_limited',
  'unavailable',
  'network',
  'not_found',
  'bad_request',
  'credentials',
  'unreadable',
  'account_not_configured',
  'worker_unavailable',
  'late',
] as const;

/** Why a poll brought no record. */
export type PollErrorClass = (typeof POLL_ERROR_CLASSES)[number];

/**
 * `index` counts through the ids of all batches in order. Tasks that are not listed are unchanged.
 * `askedMsAgo` is there when the GET left before the tick began, by so many milliseconds.
 */
export type PollAnswer =
  | {
      readonly index: number;
      readonly digest: string;
      readonly record: PolledRecord;
      readonly askedMsAgo?: number;
    }
  | { readonly index: number; readonly unchanged: true; readonly askedMsAgo: number }
  | {
      readonly index: number;
      readonly error: PollErrorClass;
      readonly httpStatus?: number;
      /** What the service said besides its status, cleaned and short; of the first tasks of a tick only. */
      readonly reason?: TaskError;
      /** Lower bound from Retry-After, in milliseconds, never clamped (C8.7). */
      readonly retryAfterMs?: number;
      /** True when nothing was sent: the tick ended first, or Retry-After of the model forbade it. */
      readonly unsent?: true;
      readonly askedMsAgo?: number;
    };

export interface PollVideosResult {
  readonly answers: readonly PollAnswer[];
  /** Now and then, while the worker has too few sockets for what it polls. */
  readonly shortage?: PollShortage;
}

/** MEDIA_POLL_CONNECTIONS as it is, and as it would do. */
export interface PollShortage {
  readonly connections: number;
  readonly needed: number;
}

type Seen = Pick<PollBatch, 'seen' | 'seenRuns'>;

/** Digests one by one, or in runs where there are half as many: most tasks were last seen in the state of their neighbours. */
export function shortSeen(digests: readonly string[]): Seen {
  const seenRuns: (readonly [string, number])[] = [];
  for (const digest of digests) {
    const last = seenRuns.at(-1);
    if (last?.[0] === digest) seenRuns[seenRuns.length - 1] = [digest, last[1] + 1];
    else seenRuns.push([digest, 1]);
  }
  // A worker of before knows no runs: to it nothing was seen, and it answers with records that are known already.
  return seenRuns.length * 2 <= digests.length ? { seen: [], seenRuns } : { seen: digests };
}

/** The digest of each task of a batch. */
export function seenOf({ seen, seenRuns }: Seen): readonly string[] {
  return seenRuns === undefined
    ? seen
    : seenRuns.flatMap(([digest, tasks]) => Array<string>(tasks).fill(digest));
}
