import { type ContentFetchResult } from '../service/media-client';
import { blockedPlace } from './blocked-place';
import { type DownloadProblem } from './download-problem';

type Refusal = Extract<ContentFetchResult, { kind: 'refused' }>;
type Failure = Exclude<ContentFetchResult, { kind: 'body' }>;

/** Codes that say that a file or a link is gone for good: `expired`, `link_expired`, `ExpiredToken`. */
const EXPIRED_CODE = /expire/i;

/** What a place that gave no body said: a total function over status and origin (C4.2, C7.3, C7.4). */
export function problemOf(failure: Failure): DownloadProblem {
  if (failure.kind === 'blocked') return { kind: 'blocked', message: blockedPlace(failure) };
  if (failure.kind === 'network')
    return { kind: 'network', message: `The content could not be fetched (${failure.code}).` };
  return problemOfRefusal(failure);
}

function problemOfRefusal({ status, retryAfterMs, error, origin }: Refusal): DownloadProblem {
  const rest = { httpStatus: status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
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
