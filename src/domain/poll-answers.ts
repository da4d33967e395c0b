import { type JsonValue } from './json';
import { type ActualRule } from './model-config';
import { type Money } from './money';
import { type TaskError } from './video-task';

interface PollBatch {
  readonly model: string | null;
  readonly ids: readonly string[];
  /** Where a final record says what the task cost. Added by the worker from the model's live configuration. */
  readonly actual?: ActualRule;
  /**
   * `seen[i]` is the digest of the last record of `ids[i]` that reached the workflow, or `''` if there was none. Empty
   * if `seenRuns` is set.
   */
  readonly seen: readonly string[];
  /** The same digests, run-length encoded: each digest with the number of consecutive tasks that have it. */
  readonly seenRuns?: readonly (readonly [digest: string, tasks: number])[];
}

/** One tick of a group, which has one account and one band (architecture: Wait). */
export interface PollVideosInput {
  readonly account: string;
  /** Soft time budget in milliseconds. Tasks without an answer by then are `late`. */
  readonly budgetMs: number;
  /** Shortest time between two polls of one task, in milliseconds. The worker enforces it. */
  readonly minIntervalMs: number;
  /** If absent, all GETs are sent as soon as possible. */
  readonly spread?: PollSpread;
  readonly byModel: readonly PollBatch[];
}

/** How a tick's GETs are spread over time, in milliseconds. */
export interface PollSpread {
  /** Target time between two polls of a task, if the tick allows it. */
  readonly everyMs: number;
  /** All GETs are sent within this time from the start of the tick. */
  readonly overMs: number;
}

/** The part of the service's record that workflow code receives. It never contains a URL (architecture: Wait). */
export interface PolledRecord {
  /** The status that the service reported, in lowercase. */
  readonly status: string;
  readonly phase: TaskPhase;
  /** Present only if the record contains a finite number from 0 to 100. */
  readonly progress?: number;
  readonly usage?: JsonValue;
  /** What the task cost. Only in a final record, if the model's `actual` rule finds an amount there. */
  readonly actual?: Money;
  readonly reported?: ReportedFacts;
  readonly error?: TaskError;
  /** When the result expires at the service, ISO 8601. Only for a completed task whose record says so. */
  readonly expiresAt?: string;
}

/** What a status means. An `unknown` status is reported, but it is not final. */
export type TaskPhase = 'queued' | 'in_progress' | 'completed' | 'failed' | 'unknown';

/** Whether the record's phase is final, so no later record can change it. */
export function isFinal({ phase }: PolledRecord): boolean {
  return phase === 'completed' || phase === 'failed';
}

/** The values that the service reports about the result, separate from the requested values. */
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
 * `index` is the id's position across all batches, in order. A task without an answer is unchanged. If the GET was sent
 * before the tick began, `askedMsAgo` is the difference in milliseconds.
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
      /** The service's error, sanitized and truncated; only for the first tasks of a tick. */
      readonly reason?: TaskError;
      /** Lower bound from Retry-After, in milliseconds, never clamped. */
      readonly retryAfterMs?: number;
      /** True if nothing was sent, because the tick ended first or the model's Retry-After forbade it. */
      readonly unsent?: true;
      readonly askedMsAgo?: number;
    };

export interface PollVideosResult {
  readonly answers: readonly PollAnswer[];
  /** Set occasionally while the worker has too few sockets for the tasks that it polls. */
  readonly shortage?: PollShortage;
}

/** MEDIA_POLL_CONNECTIONS: its current value and a sufficient value. */
export interface PollShortage {
  readonly connections: number;
  readonly needed: number;
}

type Seen = Pick<PollBatch, 'seen' | 'seenRuns'>;

/**
 * Encodes digests one by one, or as runs if there are at most half as many runs as digests. Most tasks are in the same
 * state as their neighbors.
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
