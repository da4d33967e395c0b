import { type DownloadBounds } from '../domain/download-bounds';
import { type DownloadProblem, type DownloadProblemKind, isTransient } from './download-problem';

/** Where the activity stands when a try failed; times in milliseconds since the epoch. */
export interface DownloadStanding {
  /** 1 for the first try. */
  readonly attempt: number;
  readonly now: number;
  /** Start of the first try, or of the last one that brought a byte. */
  readonly windowStart: number;
  /** How many tries in a row ended with this very kind of problem, this one included. */
  readonly sameFault: number;
  /** Last try that the retry policy allows; undefined for no limit. */
  readonly policyTries?: number;
  /** The record says that the result is there, and no byte of it came in this try. */
  readonly lives?: boolean;
  /** Tries that workers without the account made, this one included: none of them asked the service. */
  readonly elsewhere: number;
  /** When the server ends the activity by itself. */
  readonly closesAt?: number;
}

export type DownloadDecision = { readonly retryInMs: number } | { readonly end: true };

/** Faults that a few tries settle: a whole damaged file, a link that says itself that it expired. */
const SOON_SURE: ReadonlySet<DownloadProblemKind> = new Set(['truncated', 'no_picture', 'expired']);

/** Time that the next try must have before the server would end the activity. */
const MARGIN_MS = 30_000;

/**
 * Whether and when to try again (C4.2, C7.4, C8.6). Total and pure. The delay is never below Retry-After:
 * when that does not fit into the bounds, the tries end (C8.7).
 */
export function decideDownload(
  problem: DownloadProblem,
  standing: DownloadStanding,
  bounds: DownloadBounds,
): DownloadDecision {
  const { kind, final } = problem;
  const { now, windowStart, sameFault, policyTries = Infinity } = standing;
  // A worker without the account decides nothing: another one gets its turn, for as long as the server allows.
  if (kind === 'account_not_configured') {
    const retryInMs = elsewhereDelay(standing.elsewhere, bounds);
    const closes = now + retryInMs + MARGIN_MS > (standing.closesAt ?? Infinity);
    return closes || standing.attempt >= policyTries ? { end: true } : { retryInMs };
  }
  const attempt = standing.attempt - standing.elsewhere;
  if (final === true || kind === 'blocked' || kind === 'too_large') return { end: true };
  if (SOON_SURE.has(kind) && sameFault >= bounds.maxSameFault) return { end: true };
  const lives = standing.lives === true && isTransient(kind);
  const tries = lives ? Math.max(bounds.maxTries, bounds.livingTries) : bounds.maxTries;
  if (attempt >= tries || standing.attempt >= policyTries) return { end: true };
  const soon = delayAfter(problem, attempt, bounds);
  const isOver = attempt >= bounds.maxTries || now + soon > windowStart + bounds.windowMs;
  if (isOver && !lives) return { end: true };
  const retryInMs = isOver ? Math.max(soon, bounds.livingDelayMs) : soon;
  if (isOver && now + retryInMs > windowStart + bounds.livingWindowMs) return { end: true };
  if (standing.closesAt !== undefined && now + retryInMs + MARGIN_MS > standing.closesAt)
    return { end: true };
  return { retryInMs };
}

/** Milliseconds before the next try, never below Retry-After (C7.4, C8.7). */
export function delayAfter(problem: DownloadProblem, attempt: number, bounds: DownloadBounds): number {
  return Math.max(ownDelay(problem, attempt, bounds), problem.retryAfterMs ?? 0);
}

/** Short: each try may meet the worker that has the account. */
function elsewhereDelay(times: number, { minDelayMs, maxDelayMs }: DownloadBounds): number {
  return Math.min(maxDelayMs, minDelayMs * 2 ** Math.min(Math.max(times - 1, 0), 2));
}

function ownDelay({ kind }: DownloadProblem, attempt: number, bounds: DownloadBounds): number {
  if (kind === 'credentials') return bounds.authDelayMs;
  if (kind === 'account_not_configured') return elsewhereDelay(attempt, bounds);
  return Math.min(bounds.maxDelayMs, bounds.minDelayMs * 2 ** Math.min(attempt - 1, 20));
}
