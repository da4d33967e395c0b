import {
  type ContentUnavailableReason,
  type DownloadBounds,
  type DownloadProblem,
  type DownloadProblemKind,
} from '../domain/download';
import { given } from '../domain/json';
import { type BlockedHop, type ContentFetchResult } from '../service/media-client';

const REASON: Readonly<Record<DownloadProblemKind, ContentUnavailableReason>> = {
  missing: 'not_ready',
  expired: 'expired',
  credentials: 'auth',
  account_not_configured: 'auth',
  rate_limited: 'not_ready',
  unavailable: 'not_ready',
  network: 'not_ready',
  blocked: 'blocked',
  not_video: 'not_video',
  incomplete_file: 'incomplete_file',
  no_picture: 'not_video',
  too_large: 'storage',
  storage: 'storage',
};

export function reasonOf(kind: DownloadProblemKind): ContentUnavailableReason {
  return REASON[kind];
}

/**
 * Problems in order of precedence: if several locations failed in one attempt, the first kind in this list decides the
 * next step.
 */
const WEIGHT: readonly DownloadProblemKind[] = [
  'storage',
  'too_large',
  'incomplete_file',
  'network',
  'rate_limited',
  'unavailable',
  'no_picture',
  'not_video',
  'credentials',
  'account_not_configured',
  'blocked',
  'expired',
  'missing',
];

const TRANSIENT: ReadonlySet<DownloadProblemKind> = new Set(['network', 'rate_limited', 'unavailable']);

export function isTransient(kind: DownloadProblemKind): boolean {
  return TRANSIENT.has(kind);
}

/**
 * Returns the problem to report for an entire attempt: the one with the highest precedence, combined with the longest
 * requested wait.
 */
export function worstOf(problems: readonly [DownloadProblem, ...DownloadProblem[]]): DownloadProblem {
  const worst = problems.reduce((a, b) => (WEIGHT.indexOf(b.kind) < WEIGHT.indexOf(a.kind) ? b : a));
  const waits = problems.flatMap(({ retryAfterMs }) => (retryAfterMs === undefined ? [] : [retryAfterMs]));
  const rejected = worst.rejected ?? problems.find((problem) => problem.rejected !== undefined)?.rejected;
  return {
    ...worst,
    ...(waits.length === 0 ? {} : { retryAfterMs: Math.max(...waits) }),
    ...given({ rejected }),
  };
}

type Refusal = Extract<ContentFetchResult, { kind: 'refused' }>;
type Failure = Exclude<ContentFetchResult, { kind: 'body' }>;

/** Error codes for a file or link that is permanently gone: `expired`, `link_expired`, `ExpiredToken`. */
const EXPIRED_CODE = /expire/i;

/** Classifies a failure to fetch a body from a location. A total function of status and origin. */
export function problemOf(failure: Failure): DownloadProblem {
  if (failure.kind === 'blocked') return { kind: 'blocked', message: blockedLocation(failure) };
  if (failure.kind === 'network')
    return { kind: 'network', message: `The content could not be fetched (${failure.code}).` };
  return problemOfRefusal(failure);
}

function problemOfRefusal({ status, retryAfterMs, error, origin }: Refusal): DownloadProblem {
  const rest = { httpStatus: status, ...given({ retryAfterMs }) };
  if (status === 206)
    return {
      kind: 'incomplete_file',
      message: error.message ?? 'The service sent only part of the file.',
      ...rest,
    };
  const gone = status === 410 || (status < 500 && EXPIRED_CODE.test(error.code ?? ''));
  if (gone) return { kind: 'expired', message: `The result has expired (HTTP ${status}).`, ...rest };
  if (origin === 'other' && [401, 403, 404].includes(status))
    return {
      kind: 'expired',
      message: `The link to the result is no longer valid (HTTP ${status}).`,
      ...rest,
    };
  if (status === 401 || status === 403)
    return {
      kind: 'credentials',
      message: `The service rejected the download (HTTP ${status}). Check the credentials and their permissions. The task is kept.`,
      ...rest,
    };
  if (status === 429)
    return {
      kind: 'rate_limited',
      message: 'The service asked the worker to wait before the next request (HTTP 429).',
      ...rest,
    };
  if (status >= 500 || status === 408 || status === 425)
    return { kind: 'unavailable', message: `The service is not available (HTTP ${status}).`, ...rest };
  return {
    kind: 'missing',
    message: `The service has no content for this task (HTTP ${status}).`,
    ...rest,
  };
}

/** The activity's state after a failed attempt. Times are in milliseconds. */
export interface DownloadState {
  /** 1 for the first attempt. */
  readonly attempt: number;
  /**
   * Time that counts against the service: attempts and pauses since the first attempt, or since the last byte was
   * received.
   */
  readonly windowMs: number;
  /** Consecutive attempts that ended with this kind of problem, including this one. */
  readonly sameFault: number;
  /** Number of the last attempt that the retry policy allows; undefined if attempts are unlimited. */
  readonly policyTries?: number;
  /** Whether the service still reports the result, and this attempt received none of its bytes. */
  readonly lives?: boolean | undefined;
  /** Attempts by workers without the account, including this one. None of them made a request. */
  readonly elsewhere: number;
  /** Time until the server times out the activity. */
  readonly leftMs?: number;
}

type DownloadDecision = { readonly retryInMs: number } | { readonly end: true };

/**
 * Faults that are final after a few attempts, such as a complete but damaged file, or a link that reports its own
 * expiry.
 */
const FINAL_SOON: ReadonlySet<DownloadProblemKind> = new Set(['incomplete_file', 'no_picture', 'expired']);

/** Minimum time between the start of an attempt and the end of the activity, in milliseconds. */
const MARGIN_MS = 30_000;

/**
 * Decides whether and when to try again (C4.2, C7.4, C8.6). Has no side effects and never throws. The delay is never
 * shorter than Retry-After: if Retry-After does not fit within the bounds, there are no more attempts (C8.7).
 */
export function decideDownload(
  problem: DownloadProblem,
  state: DownloadState,
  bounds: DownloadBounds,
): DownloadDecision {
  const { kind, final } = problem;
  const { windowMs, sameFault, policyTries = Infinity } = state;
  // A worker without the account does not end the attempts: other workers can try for as long as the server allows.
  if (kind === 'account_not_configured') {
    const retryInMs = elsewhereDelay(state.elsewhere, bounds);
    const ends = state.attempt >= policyTries || closesBefore(retryInMs, state);
    return ends ? { end: true } : { retryInMs };
  }
  const attempt = state.attempt - state.elsewhere;
  if (final === true || kind === 'blocked' || kind === 'too_large') return { end: true };
  if (FINAL_SOON.has(kind) && sameFault >= bounds.maxSameFault) return { end: true };
  const lives = state.lives === true && isTransient(kind);
  const tries = lives ? Math.max(bounds.maxTries, bounds.livingTries) : bounds.maxTries;
  if (attempt >= tries || state.attempt >= policyTries) return { end: true };
  const soon = delayAfter(problem, attempt, bounds);
  const isOver = attempt >= bounds.maxTries || windowMs + soon > bounds.windowMs;
  if (isOver && !lives) return { end: true };
  const retryInMs = isOver ? Math.max(soon, bounds.livingDelayMs) : soon;
  if (isOver && windowMs + retryInMs > bounds.livingWindowMs) return { end: true };
  return closesBefore(retryInMs, state) ? { end: true } : { retryInMs };
}

/** Whether the server would end the activity before an attempt that starts after this delay could do anything. */
function closesBefore(startsInMs: number, { leftMs = Infinity }: DownloadState): boolean {
  return startsInMs + MARGIN_MS > leftMs;
}

/** Returns the milliseconds before the next attempt, never less than Retry-After. */
function delayAfter(problem: DownloadProblem, attempt: number, bounds: DownloadBounds): number {
  return Math.max(ownDelay(problem, attempt, bounds), problem.retryAfterMs ?? 0);
}

/** Returns a short delay, because the next attempt may reach a worker that has the account. */
function elsewhereDelay(times: number, { minDelayMs, maxDelayMs }: DownloadBounds): number {
  return Math.min(maxDelayMs, minDelayMs * 2 ** Math.min(Math.max(times - 1, 0), 2));
}

/**
 * Number of quick retries after a store fault. The fault may affect only this worker (network partition, full disk),
 * and a worker that fails immediately would otherwise take most of the work.
 */
const HANDED_ON = 6;

function ownDelay({ kind }: DownloadProblem, attempt: number, bounds: DownloadBounds): number {
  if (kind === 'credentials') return bounds.authDelayMs;
  if (kind === 'storage')
    return Math.min(
      bounds.maxDelayMs,
      bounds.minDelayMs * 2 ** Math.max(0, Math.min(attempt - HANDED_ON, 20)),
    );
  return Math.min(bounds.maxDelayMs, bounds.minDelayMs * 2 ** Math.min(attempt - 1, 20));
}

/** Explains why a result was not requested and how to allow it. Shows only the origin of a URL. */
export function blockedLocation(hop: BlockedHop): string {
  if (hop.reason !== 'address')
    return `The worker does not request the result's URL, because it is not allowed (${hop.reason}).`;
  return `The result is at ${hop.origin}, which is neither the service (${hop.service}) nor a public address. Nothing was sent there. If you trust this origin, add it to the worker's MEDIA_ALLOWED_MEDIA_ORIGINS and restart the worker.`;
}
