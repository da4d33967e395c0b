import { type JsonValue } from './json';
import { type TaskError } from './video-task';

interface PollBatch {
  readonly model: string | null;
  readonly ids: readonly string[];
  /**
   * `seen[i]` is the digest of the last record of `ids[i]` that reached the workflow, `''` for none. Empty when
   * `seenRuns` is set.
   */
  readonly seen: readonly string[];
  /** The same digests as runs, each with the number of consecutive tasks that have it. */
  readonly seenRuns?: readonly (readonly [digest: string, tasks: number])[];
}

/** One tick of one group: one account, one cadence band (architecture: Wait). */
export interface PollVideosInput {
  readonly account: string;
  /** Soft budget in milliseconds: tasks without an answer by then are `late`. */
  readonly budgetMs: number;
  /** Shortest time between two polls of one task, in milliseconds, which the worker enforces. */
  readonly minIntervalMs: number;
  /** Absent: all GETs are sent as soon as possible. */
  readonly spread?: PollSpread;
  readonly byModel: readonly PollBatch[];
}

/** How the GETs of one tick are spread, in milliseconds. */
export interface PollSpread {
  /** Target time between two polls of a task, if the tick allows it. */
  readonly everyMs: number;
  /** Time from the start of the tick within which all GETs are sent. */
  readonly overMs: number;
}

/** The part of a service's record that is passed to workflow code: never a URL (architecture: Wait). */
export interface PolledRecord {
  /** The service's own status value, in lower case. */
  readonly status: string;
  readonly phase: TaskPhase;
  /** Present only if the record contains a finite number from 0 to 100. */
  readonly progress?: number;
  readonly usage?: JsonValue;
  readonly reported?: ReportedFacts;
  readonly error?: TaskError;
  /** When the result expires at the service, ISO 8601. Only for a completed task, and only if its record says so. */
  readonly expiresAt?: string;
}

/** Meaning of a status value. `unknown` is reported and is not final. */
export type TaskPhase = 'queued' | 'in_progress' | 'completed' | 'failed' | 'unknown';

/** Whether the phase is final, so that no later record can change it. */
export function isFinal({ phase }: PolledRecord): boolean {
  return phase === 'completed' || phase === 'failed';
}

/** What the service reports about the result, kept apart from what was requested. */
export interface ReportedFacts {
  /** Model id in the service's record, if any. */
  readonly model?: string;
  /** Resolution in the record, if any. */
  readonly resolution?: string;
  /** Seconds in the record, if any. */
  readonly durationSeconds?: number;
  /** Frames per second in the record, if any. */
  readonly fps?: number;
}

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

/** Why a poll returned no record. */
export type PollErrorClass = (typeof POLL_ERROR_CLASSES)[number];

/**
 * `index` counts the ids of all batches in order. A task without an answer is unchanged. `askedMsAgo` is set when the
 * GET was sent before the tick began, by that many milliseconds.
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
      /** The service's error, cleaned and shortened; only for the first tasks of a tick. */
      readonly reason?: TaskError;
      /** Lower bound from Retry-After, in milliseconds, never clamped. */
      readonly retryAfterMs?: number;
      /** True if nothing was sent because the tick ended first or the model's Retry-After forbade it. */
      readonly unsent?: true;
      readonly askedMsAgo?: number;
    };

export interface PollVideosResult {
  readonly answers: readonly PollAnswer[];
  /** Set from time to time while the worker has too few sockets for the tasks that it polls. */
  readonly shortage?: PollShortage;
}

/** MEDIA_POLL_CONNECTIONS: its current value, and the value that would suffice. */
export interface PollShortage {
  readonly connections: number;
  readonly needed: number;
}

type Seen = Pick<PollBatch, 'seen' | 'seenRuns'>;

/**
 * Encodes digests one by one, or as runs if there are at most half as many runs. Most tasks were last in the same state
 * as their neighbors.
 */
export function shortSeen(digests: readonly string[]): Seen {
  const seenRuns: (readonly [string, number])[] = [];
  for (const digest of digests) {
    const last = seenRuns.at(-1);
    if (last?.[0] === digest) seenRuns[seenRuns.length - 1] = [digest, last[1] + 1];
    else seenRuns.push([digest, 1]);
  }
  // An older worker ignores `seenRuns`: it finds no digests and returns records that are already known.
  return seenRuns.length * 2 <= digests.length ? { seen: [], seenRuns } : { seen: digests };
}

export function seenOf({ seen, seenRuns }: Seen): readonly string[] {
  return seenRuns === undefined
    ? seen
    : seenRuns.flatMap(([digest, tasks]) => Array<string>(tasks).fill(digest));
}
