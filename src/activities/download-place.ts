import { type ArtifactStore, type StagedArtifact } from '../artifacts/artifact-store';
import { type DownloadBounds } from '../domain/download-bounds';
import { type ContentFetchResult, type MediaClient } from '../service/media-client';
import { readBody, tooLarge } from './download-body';
import { type DownloadProblem } from './download-problem';
import { type DownloadProgress, digestOf, partOwner } from './download-progress';
import { problemOf } from './download-refusal';

/** One try of one execution: what all places of it share. */
export interface DownloadTry {
  readonly client: MediaClient;
  readonly artifacts: ArtifactStore;
  readonly bounds: DownloadBounds;
  readonly progress: DownloadProgress;
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly endsAt: number;
  /** Aborted at `endsAt`: hops that answer slowly add up, and so do places. */
  readonly deadline: AbortSignal;
  /** Nobody had the owner of its progress before. */
  readonly fresh?: boolean;
  /** No try follows this one, whatever it meets: what it refuses is kept. */
  readonly last: boolean;
  /** Set once a byte of a video came in this try. */
  flowed: boolean;
}

type Body = Extract<ContentFetchResult, { kind: 'body' }>;
export type Fetched = { readonly part: StagedArtifact } | { readonly problem: DownloadProblem };

/**
 * Fetches one place into a part of this execution, going on where the last try stopped when the entity is provably
 * the same (failure model: Foreign bytes). Whole by its length; what it is has still to be checked. Storage errors are thrown.
 * @param place names the place in parts and heartbeats: never its address
 */
export async function fetchPlace(turn: DownloadTry, place: string, url: URL): Promise<Fetched> {
  const resumed = await resumablePart(turn, place);
  if (resumed === undefined) return fetchWhole(turn, place, url);
  const { etag, length } = turn.progress;
  if (resumed.position === length) return { part: resumed };
  const range = { from: resumed.position, etag: etag! };
  const result = await get(turn, { url, range });
  if (result.kind === 'body') {
    if (result.status === 206 && continues(result, turn.progress, resumed))
      return take(turn, resumed, result);
    if (result.status === 200) {
      await forget(turn, resumed);
      return takeWhole(turn, place, result);
    }
    // 206 of something else: not one byte of it belongs here.
    result.body.destroy();
  } else if (result.kind !== 'refused' || result.status !== 416) {
    await resumed.close();
    return { problem: problemOf(result) };
  }
  await forget(turn, resumed);
  return fetchWhole(turn, place, url);
}

async function get(
  turn: DownloadTry,
  request: { readonly url: URL; readonly range?: { readonly from: number; readonly etag: string } },
): Promise<ContentFetchResult> {
  const { client, signal, deadline } = turn;
  const result = await client.fetchContent({ ...request, signal: AbortSignal.any([signal, deadline]) });
  // An error while nobody reads, or of a body that is thrown away, must not be left without a listener.
  if (result.kind === 'body') result.body.on('error', () => undefined);
  return result;
}

async function fetchWhole(turn: DownloadTry, place: string, url: URL): Promise<Fetched> {
  const result = await get(turn, { url });
  return result.kind === 'body' ? takeWhole(turn, place, result) : { problem: problemOf(result) };
}

async function takeWhole(turn: DownloadTry, place: string, result: Body): Promise<Fetched> {
  const { progress, bounds } = turn;
  const refused = refusal(result, bounds);
  if (refused !== undefined) {
    result.body.destroy();
    return { problem: refused };
  }
  if (progress.place !== place || progress.etag !== result.etag) await discardPart(turn);
  const owner = partOwner(progress.owner, place, result.etag);
  const part = await turn.artifacts.stage(owner, { fresh: turn.fresh === true });
  if (part.position > 0) await part.restart();
  Object.assign(progress, { place, etag: result.etag, length: result.contentLength, position: 0 });
  return take(turn, part, result);
}

/** Reads the body into its part, then decides what the part is good for. */
async function take(turn: DownloadTry, part: StagedArtifact, result: Body): Promise<Fetched> {
  const { progress, bounds, signal } = turn;
  const problem =
    (await readBody(result.body, part, {
      bounds,
      signal,
      cleanPage: (page) => turn.client.cleanPage(page),
      remainingMs: turn.endsAt - turn.now(),
      onBytes: (position) => {
        progress.position = position;
        turn.flowed = true;
      },
    })) ?? lengthProblem(part, result.contentRange?.total ?? progress.length);
  if (problem === undefined) return { part };
  if (problem.kind === 'not_video') {
    const rejected = await part.reject();
    Object.assign(progress, { place: null, position: 0 });
    return { problem: { ...problem, rejected } };
  }
  const resumable =
    problem.kind === 'network' && progress.etag !== null && !(part.position > (progress.length ?? Infinity));
  if (resumable) await part.close();
  else await forget(turn, part);
  return { problem };
}

/** Deletes a part and what is known of it. */
export async function forget({ progress }: DownloadTry, part: StagedArtifact): Promise<void> {
  Object.assign(progress, { place: null, etag: null, length: null, position: 0 });
  await part.discard();
}

/** Deletes what this try left, when nobody will go on with it. */
export async function discardPart(turn: DownloadTry): Promise<void> {
  const { owner, place, etag } = turn.progress;
  if (place === null) return;
  await forget(turn, await turn.artifacts.stage(partOwner(owner, place, etag)));
}

/** The part that the last try left for this place; undefined when there is none that can be gone on with. */
async function resumablePart(turn: DownloadTry, place: string): Promise<StagedArtifact | undefined> {
  const { progress, artifacts } = turn;
  if (progress.place !== place || progress.etag === null) return undefined;
  const part = await artifacts.stage(partOwner(progress.owner, place, progress.etag));
  if (part.position > 0 && part.position <= (progress.length ?? Infinity)) return part;
  await forget(turn, part);
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
    return { kind: 'not_video', message: 'The body came in an encoding that was not asked for.' };
  if (result.status !== 200) return { kind: 'network', message: 'A part came although none was asked for.' };
  return (result.contentLength ?? 0) > bounds.maxBytes ? tooLarge(bounds) : undefined;
}

function lengthProblem(part: StagedArtifact, expected: number | null): DownloadProblem | undefined {
  if (expected === null || part.position === expected) return undefined;
  return { kind: 'network', message: `The body has ${part.position} of ${expected} bytes.` };
}

/** Name of a place by its address, without the part that signs it. */
export function placeOf(url: URL): string {
  return digestOf(url.origin, url.pathname);
}
