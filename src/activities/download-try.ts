import { checkVideo, type VideoCheck } from '../artifacts/video-check';
import { sniffMedia } from '../artifacts/media-type';
import { type StagedArtifact } from '../artifacts/artifact-store';
import { type ArtifactRef } from '../domain/media';
import { readDataUrl } from '../service/data-url';
import { type GetVideoResult } from '../service/media-client';
import { type DownloadTry, type Fetched, fetchPlace, forget, placeOf } from './download-place';
import { type ContentPlace, contentPlaces } from './download-places';
import { type DownloadProblem, isTransient, worstOf } from './download-problem';
import { partOwner } from './download-progress';

/** A video that is verified and stored. */
export interface DownloadedVideo {
  readonly artifact: ArtifactRef;
  /** What the file itself says; null for a container that is only known by its first bytes. */
  readonly facts: Extract<VideoCheck, { ok: true }>['facts'];
  readonly warnings: readonly string[];
}

export type TryResult = { readonly video: DownloadedVideo } | { readonly problem: DownloadProblem };

/** Largest `data:` result that is decoded in memory, in bytes. */
const MAX_DATA_URL_BYTES = 64 * 1024 * 1024;

/**
 * One pass over the places of a result: the content endpoint, then the record's URLs (C4.1). A place of the service
 * itself is left out when the service just asked to wait. Storage errors are thrown.
 */
export async function tryPlaces(
  turn: DownloadTry,
  taskId: string,
  record: GetVideoResult,
): Promise<TryResult> {
  const waiting = askedToWait(record);
  if (waiting !== undefined) return { problem: waiting };
  const urls = record.kind === 'record' ? record.resultUrls : [];
  const problems: DownloadProblem[] = [];
  for (const place of contentPlaces(turn.client, taskId, urls)) {
    const last = problems.at(-1);
    if (last !== undefined && isTransient(last.kind) && place.own) continue;
    const result = await tryPlace(turn, place);
    if ('video' in result) return result;
    problems.push(result.problem);
    if (turn.signal.aborted || turn.deadline.aborted || result.problem.kind === 'too_large') break;
    // Bytes that can be gone on with are worth more than another place.
    if (turn.progress.place === nameOf(place) && turn.progress.position > 0) break;
  }
  const [first, ...rest] = problems;
  if (first === undefined)
    return { problem: { kind: 'missing', message: 'The record names no place for the result.' } };
  const unread = record.kind === 'record' ? [] : [unreadRecord(record)];
  // A blocked place is final only when the other places are known.
  const all = first.kind === 'blocked' ? ([first, ...rest, ...unread] as const) : ([first, ...rest] as const);
  return { problem: worstOf(all) };
}

async function tryPlace(turn: DownloadTry, place: ContentPlace): Promise<TryResult> {
  const fetched =
    place.kind === 'data'
      ? await takeDataUrl(turn, place.url)
      : await fetchPlace(turn, nameOf(place), place.url);
  return 'problem' in fetched ? fetched : verify(turn, fetched.part);
}

const nameOf = (place: ContentPlace) => (place.kind === 'content' ? 'content' : placeOf(place.url));

/** What a whole body really is; only video is published (C4.3). */
async function verify(turn: DownloadTry, part: StagedArtifact): Promise<TryResult> {
  const path = part.inspectPath();
  if (path === undefined) throw new TypeError('This store cannot show its parts for inspection.');
  const check = await checkVideo(path);
  if (check.ok) {
    const artifact = await part.publish(check.mediaType);
    return { video: { artifact, facts: check.facts, warnings: check.warnings } };
  }
  const kind = check.reason === 'truncated' ? 'truncated' : 'no_picture';
  const { progress, bounds } = turn;
  const lastOne = turn.last || (progress.fault === kind && progress.sameFault + 1 >= bounds.maxSameFault);
  if (!lastOne) {
    await forget(turn, part);
    return { problem: { kind, message: check.message } };
  }
  const rejected = await part.reject();
  Object.assign(progress, { place: null, etag: null, length: null, position: 0 });
  return { problem: { kind, message: check.message, rejected } };
}

async function takeDataUrl(turn: DownloadTry, url: URL): Promise<Fetched> {
  const bytes = readDataUrl(url.href, MAX_DATA_URL_BYTES);
  if (bytes === undefined)
    return { problem: { kind: 'missing', message: 'The data: URL of the record cannot be read.' } };
  const part = await turn.artifacts.stage(partOwner(turn.progress.owner, 'data', null));
  await part.restart();
  const isVideo = sniffMedia(bytes)?.kind === 'video';
  await part.write(isVideo ? bytes : await turn.client.cleanPage(bytes));
  if (isVideo) return { part };
  const rejected = await part.reject();
  return {
    problem: { kind: 'not_video', message: 'The data: URL of the record holds no video.', rejected },
  };
}

/** A Retry-After to the reading of the record holds for the content of the same service (C8.7). */
function askedToWait(record: GetVideoResult): DownloadProblem | undefined {
  if (record.kind === 'record' || record.retryAfterMs === undefined) return undefined;
  const { retryAfterMs, httpStatus } = record;
  return {
    kind: record.error === 'rate_limited' ? 'rate_limited' : 'unavailable',
    message: 'The service asks to wait.',
    retryAfterMs,
    ...(httpStatus === undefined ? {} : { httpStatus }),
  };
}

function unreadRecord(record: Extract<GetVideoResult, { kind: 'error' }>): DownloadProblem {
  const { httpStatus, retryAfterMs } = record;
  return {
    kind: 'unavailable',
    message: 'The record of the task could not be read.',
    ...(httpStatus === undefined ? {} : { httpStatus }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}
