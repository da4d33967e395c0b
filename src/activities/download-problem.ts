import {
  type ContentUnavailableReason,
  type DownloadProblem,
  type DownloadProblemKind,
} from '../domain/download';
import { type ContentFetchResult } from '../service/media-client';
import { blockedLocation } from './blocked-location';

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

/** In order of precedence: the first decides the next step when several locations failed in one try. */
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

/** The problem of a whole try: the one of highest precedence, with the longest wait that was requested (C8.7). */
export function worstOf(problems: readonly [DownloadProblem, ...DownloadProblem[]]): DownloadProblem {
  const worst = problems.reduce((a, b) => (WEIGHT.indexOf(b.kind) < WEIGHT.indexOf(a.kind) ? b : a));
  const waits = problems.flatMap(({ retryAfterMs }) => (retryAfterMs === undefined ? [] : [retryAfterMs]));
  const rejected = worst.rejected ?? problems.find((problem) => problem.rejected !== undefined)?.rejected;
  return {
    ...worst,
    ...(waits.length === 0 ? {} : { retryAfterMs: Math.max(...waits) }),
    ...(rejected === undefined ? {} : { rejected }),
  };
}

type Refusal = Extract<ContentFetchResult, { kind: 'refused' }>;
type Failure = Exclude<ContentFetchResult, { kind: 'body' }>;

/** Error codes of a file or link that is permanently gone: `expired`, `link_expired`, `ExpiredToken`. */
const EXPIRED_CODE = /expire/i;

/** Classifies a failure to get a body from a location: a total function over status and origin (C4.2, C7.3, C7.4). */
export function problemOf(failure: Failure): DownloadProblem {
  if (failure.kind === 'blocked') return { kind: 'blocked', message: blockedLocation(failure) };
  if (failure.kind === 'network')
    return { kind: 'network', message: `The content could not be fetched (${failure.code}).` };
  return problemOfRefusal(failure);
}

function problemOfRefusal({ status, retryAfterMs, error, origin }: Refusal): DownloadProblem {
  const rest = { httpStatus: status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  if (status === 206)
    return {
      kind: 'incomplete_file',
      message: error.message ?? 'The service sent only a part of the file.',
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
      message: `The service refuses the download (HTTP ${status}): check the credentials and their rights. The task is kept.`,
      ...rest,
    };
  if (status === 429)
    return { kind: 'rate_limited', message: 'The service asks to wait (HTTP 429).', ...rest };
  if (status >= 500 || status === 408 || status === 425)
    return { kind: 'unavailable', message: `The service is not available (HTTP ${status}).`, ...rest };
  return { kind: 'missing', message: `The service has no content for this task (HTTP ${status}).`, ...rest };
}
