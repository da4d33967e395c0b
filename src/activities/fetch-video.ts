import { throwBug } from '../domain/bug';
import { type DownloadBounds, type DownloadProblem } from '../domain/download';
import { given } from '../domain/json';
import { type ArtifactRef } from '../domain/request';
import {
  type ContentFetchResult,
  type GetVideoResult,
  type MediaClient,
  type VideoReading,
} from '../service/media-client';
import { readDataUrl } from '../service/read-data-url';
import { type ArtifactStore, type StagedArtifact } from '../stores/artifacts/artifact-store';
import { checkVideo, type VideoCheck } from '../stores/artifacts/video-check';
import { isTransient, problemOf, worstOf } from './download-problems';
import {
  digestOf,
  type DownloadProgress,
  keptOfPage,
  notVideoProblem,
  partOwner,
  readBody,
  tooLarge,
} from './fetch-body';

/** One download attempt of one execution: the state that its locations share. */
export interface DownloadTry {
  readonly client: MediaClient;
  readonly artifacts: ArtifactStore;
  readonly bounds: DownloadBounds;
  readonly progress: DownloadProgress;
  readonly signal: AbortSignal;
  readonly now: () => number;
  /** When the attempt must end, according to the `now` clock. */
  readonly endsAt: number;
  /** The server's time, in milliseconds since the Unix epoch. */
  readonly serverTime: () => number;
  /** Aborts at `endsAt`, because the time for slow redirects and several locations adds up. */
  readonly deadline: AbortSignal;
  /** Whether to ignore any part left by an earlier attempt. */
  readonly fresh?: boolean;
  /** Whether this is the last attempt, in which case a rejected file is kept. */
  readonly last: boolean;
  /** Set once this attempt has received a byte of a video. */
  flowed: boolean;
  /** Set once this attempt has used bytes from an earlier one. */
  resumed?: boolean;
}

type Body = Extract<ContentFetchResult, { kind: 'body' }>;
type Fetched = { readonly part: StagedArtifact } | { readonly problem: DownloadProblem };

/**
 * Fetches one location into a part that belongs to this execution. Resumes where the last attempt stopped if the entity
 * is provably the same (failure model: Foreign bytes). The returned part has its full length, but its content is not
 * checked yet. Throws storage errors.
 * @param location name of the location in parts and heartbeats; never its URL
 */
async function fetchLocation(download: DownloadTry, location: string, url: URL): Promise<Fetched> {
  const resumed = await resumablePart(download, location);
  if (resumed === undefined) return fetchWhole(download, location, url);
  const { etag, length } = download.progress;
  if (resumed.position === length) {
    download.resumed = true;
    return { part: resumed };
  }
  const range = { from: resumed.position, etag: etag! };
  const result = await get(download, { url, range });
  if (result.kind === 'body') {
    if (result.status === 206 && continues(result, download.progress, resumed)) {
      download.resumed = true;
      return take(download, resumed, result);
    }
    if (result.status === 200) {
      await forget(download, resumed);
      return takeWhole(download, location, result);
    }
    // A 206 for a different entity: none of its bytes belong to this part.
    result.body.destroy();
  } else if (result.kind !== 'refused' || result.status !== 416) {
    await resumed.close();
    return { problem: problemOf(result) };
  }
  await forget(download, resumed);
  return fetchWhole(download, location, url);
}

async function get(
  download: DownloadTry,
  request: { readonly url: URL; readonly range?: { readonly from: number; readonly etag: string } },
): Promise<ContentFetchResult> {
  const { client, signal, deadline } = download;
  const result = await client.fetchContent({ ...request, signal: AbortSignal.any([signal, deadline]) });
  // A discarded body may still emit an error, which needs a listener.
  if (result.kind === 'body') result.body.on('error', () => undefined);
  return result;
}

async function fetchWhole(download: DownloadTry, location: string, url: URL): Promise<Fetched> {
  const result = await get(download, { url });
  return result.kind === 'body' ? takeWhole(download, location, result) : { problem: problemOf(result) };
}

async function takeWhole(download: DownloadTry, location: string, result: Body): Promise<Fetched> {
  const { progress, bounds } = download;
  const refused = refusal(result, bounds);
  if (refused !== undefined) {
    result.body.destroy();
    return { problem: refused };
  }
  if (progress.location !== location || progress.etag !== result.etag) await discardPart(download);
  const owner = partOwner(progress.owner, location, result.etag);
  const part = await download.artifacts.stage(owner, { fresh: download.fresh === true });
  if (part.position > 0) await part.restart();
  Object.assign(progress, { location, etag: result.etag, length: result.contentLength, position: 0 });
  return take(download, part, result);
}

/** Reads the body into its part, then keeps, rejects or deletes the part. */
async function take(download: DownloadTry, part: StagedArtifact, result: Body): Promise<Fetched> {
  const { progress, bounds, signal } = download;
  const problem =
    (await readBody(result.body, part, {
      bounds,
      signal,
      cleanPage: (page) => download.client.cleanPage(page),
      remainingMs: download.endsAt - download.now(),
      onBytes: (position) => {
        progress.position = position;
        download.flowed = true;
      },
    })) ?? lengthProblem(part, result.contentRange?.total ?? progress.length);
  if (problem === undefined) return { part };
  if (problem.kind === 'not_video' || problem.kind === 'no_picture') {
    const rejected = await part.reject();
    Object.assign(progress, { location: null, position: 0 });
    return { problem: { ...problem, rejected } };
  }
  const resumable =
    problem.kind === 'network' && progress.etag !== null && !(part.position > (progress.length ?? Infinity));
  if (resumable) await part.close();
  else await forget(download, part);
  return { problem };
}

/** Deletes a part and resets its progress. */
export async function forget({ progress }: DownloadTry, part: StagedArtifact): Promise<void> {
  Object.assign(progress, { location: null, etag: null, length: null, position: 0 });
  await part.discard();
}

/** Deletes this attempt's part if no later attempt will resume it. */
export async function discardPart(download: DownloadTry): Promise<void> {
  const { owner, location, etag } = download.progress;
  if (location === null) return;
  await forget(download, await download.artifacts.stage(partOwner(owner, location, etag)));
}

/** Returns the part that the last attempt left for this location, or undefined if it cannot be resumed. */
async function resumablePart(download: DownloadTry, location: string): Promise<StagedArtifact | undefined> {
  const { progress, artifacts } = download;
  if (progress.location !== location || progress.etag === null) return undefined;
  const part = await artifacts.stage(partOwner(progress.owner, location, progress.etag));
  if (part.position > 0 && part.position <= (progress.length ?? Infinity)) return part;
  await forget(download, part);
  return undefined;
}

function continues(
  { contentRange, etag, contentEncoding }: Body,
  progress: DownloadProgress,
  part: StagedArtifact,
) {
  return (
    contentEncoding === null &&
    contentRange !== null &&
    contentRange.from === part.position &&
    etag === progress.etag &&
    (progress.length === null || contentRange.total === null || contentRange.total === progress.length)
  );
}

function refusal(result: Body, bounds: DownloadBounds): DownloadProblem | undefined {
  if (result.contentEncoding !== null)
    return { kind: 'no_picture', message: 'The body has a content encoding that was not requested.' };
  return (result.contentLength ?? 0) > bounds.maxBytes ? tooLarge(bounds) : undefined;
}

function lengthProblem(part: StagedArtifact, expected: number | null): DownloadProblem | undefined {
  if (expected === null || part.position === expected) return undefined;
  return { kind: 'network', message: `The body has ${part.position} of ${expected} bytes.` };
}

/** Names a location after its URL without the query, which may contain a signature. */
export function placeOf(url: URL): string {
  return digestOf(url.origin, url.pathname);
}

/** A verified and stored video. */
export interface DownloadedVideo {
  readonly artifact: ArtifactRef;
  /** Facts from the file, or null for a container that is recognized only by its first bytes. */
  readonly facts: Extract<VideoCheck, { ok: true }>['facts'];
  readonly warnings: readonly string[];
}

export type TryResult = { readonly video: DownloadedVideo } | { readonly problem: DownloadProblem };

/** Maximum size of a `data:` result that is decoded in memory, in bytes. */
const MAX_DATA_URL_BYTES = 64 * 1024 * 1024;

/**
 * Tries each of a result's locations once: the content endpoint, then the record's URLs. Skips locations at the service
 * itself if the service has just requested a wait. Throws storage errors.
 */
export async function tryLocations(
  download: DownloadTry,
  taskId: string,
  record: GetVideoResult,
): Promise<TryResult> {
  const waiting = askedToWait(record);
  if (waiting !== undefined) return { problem: waiting };
  const urls = record.kind === 'record' ? record.resultUrls : [];
  const problems: DownloadProblem[] = [];
  for (const location of contentLocations(download.client, taskId, urls)) {
    const last = problems.at(-1);
    if (last !== undefined && isTransient(last.kind) && location.own) continue;
    const result = await tryLocation(download, location);
    if ('video' in result) return result;
    problems.push(result.problem);
    if (download.signal.aborted || download.deadline.aborted || result.problem.kind === 'too_large') break;
    // Resuming a part is better than trying another location.
    if (download.progress.location === nameOf(location) && download.progress.position > 0) break;
  }
  const [first, ...rest] = problems;
  if (first === undefined)
    return {
      problem: { kind: 'missing', message: "The task's record does not contain a location for the result." },
    };
  const unread = record.kind === 'record' ? [] : [unreadRecord(record)];
  // A blocked location is final only once the results for the other locations are known.
  const all = first.kind === 'blocked' ? ([first, ...rest, ...unread] as const) : ([first, ...rest] as const);
  return { problem: worstOf(all) };
}

async function tryLocation(download: DownloadTry, location: ContentLocation): Promise<TryResult> {
  const fetched =
    location.kind === 'data'
      ? await takeDataUrl(download, location.url)
      : await fetchLocation(download, nameOf(location), location.url);
  return 'problem' in fetched ? fetched : verify(download, fetched.part);
}

const nameOf = (location: ContentLocation) =>
  location.kind === 'content' ? 'content' : placeOf(location.url);

/** Checks the content of a complete body. Only a video is published. */
async function verify(download: DownloadTry, part: StagedArtifact): Promise<TryResult> {
  const path = part.inspectPath();
  if (path === undefined) throw new Error('This store does not allow its parts to be inspected.');
  const check = await checkVideo(path);
  if (check.ok) {
    const artifact = await part.publish(check.mediaType);
    return { video: { artifact, facts: check.facts, warnings: check.warnings } };
  }
  const kind = check.reason === 'not_video' ? 'no_picture' : check.reason;
  const { progress, bounds } = download;
  const lastOne =
    download.last ||
    kind === 'too_large' ||
    (progress.fault === kind && progress.sameFault + 1 >= bounds.maxSameFault);
  if (!lastOne) {
    await forget(download, part);
    return { problem: { kind, message: check.message } };
  }
  const rejected = await part.reject();
  Object.assign(progress, { location: null, etag: null, length: null, position: 0 });
  return { problem: { kind, message: check.message, rejected } };
}

async function takeDataUrl(download: DownloadTry, url: URL): Promise<Fetched> {
  const bytes = readDataUrl(url.href, MAX_DATA_URL_BYTES);
  if (bytes === undefined)
    return { problem: { kind: 'missing', message: "The record's data: URL cannot be read." } };
  const part = await download.artifacts.stage(partOwner(download.progress.owner, 'data', null));
  await part.restart();
  const problem = notVideoProblem(bytes);
  await part.write(
    problem === undefined ? bytes : await keptOfPage(bytes, (page) => download.client.cleanPage(page)),
  );
  if (problem === undefined) return { part };
  const rejected = await part.reject();
  const message = `The record's data: URL does not contain a video. ${problem.message}`;
  return { problem: { ...problem, message, rejected } };
}

/** Returns a problem if the record has a Retry-After, which also applies to content from the same service. */
function askedToWait(record: GetVideoResult): DownloadProblem | undefined {
  if (record.kind === 'record' || record.retryAfterMs === undefined) return undefined;
  const { retryAfterMs, httpStatus } = record;
  return {
    kind: record.error === 'rate_limited' ? 'rate_limited' : 'unavailable',
    message: 'The service asked the worker to wait before the next request.',
    retryAfterMs,
    ...given({ httpStatus }),
  };
}

function unreadRecord(record: Extract<GetVideoResult, { kind: 'error' }>): DownloadProblem {
  const { httpStatus, retryAfterMs } = record;
  return {
    kind: 'unavailable',
    message: "The task's record could not be read.",
    ...given({ httpStatus, retryAfterMs }),
  };
}

/** A location where a video may be found. Locations are tried in order (C4.1). */
interface ContentLocation {
  readonly kind: 'content' | 'url' | 'data';
  readonly url: URL;
  /** Whether it has the service's own origin, in which case the record's Retry-After applies to it. */
  readonly own: boolean;
}

/** Returns the content endpoint, then the record's URLs, without duplicates. */
function contentLocations(
  client: MediaClient,
  taskId: string,
  resultUrls: VideoReading['resultUrls'],
): ContentLocation[] {
  const { origin } = new URL(client.baseUrl);
  const locations: ContentLocation[] = [];
  const content = attempt(() => client.contentUrl(taskId));
  if (content !== undefined) locations.push({ kind: 'content', url: content, own: true });
  for (const text of resultUrls) {
    const url = attempt(() => new URL(text));
    if (url === undefined || locations.some((location) => location.url.href === url.href)) continue;
    if (url.protocol === 'data:') locations.push({ kind: 'data', url, own: true });
    else if (/^https?:$/.test(url.protocol)) locations.push({ kind: 'url', url, own: url.origin === origin });
  }
  return locations;
}

function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    throwBug(error);
    return undefined;
  }
}
