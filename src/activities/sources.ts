import { realpath } from 'node:fs/promises';
import { isAbsolute, relative } from 'node:path';
import { type Readable } from 'node:stream';
import { otherwise, throwBug } from '../domain/bug';
import { type ModelEntry } from '../domain/model-config';
import { type ArtifactRef, isDataUrl, type MediaSource } from '../domain/request';
import { type ValidationIssue } from '../domain/shape';
import { isWithinReach } from '../service/address-filter';
import { type MediaClient } from '../service/media-client';
import { readDataUrl } from '../service/read-data-url';
import { ReplyBytes } from '../service/reply-body';
import { type WireFile } from '../service/wire-body';
import {
  ArtifactError,
  type ArtifactErrorCode,
  type ArtifactStore,
} from '../stores/artifacts/artifact-store';
import { SNIFF_BYTES, sniffMedia } from '../stores/artifacts/media-type';
import { ingestFile } from '../stores/artifacts/user-files';
import { type MissingHere } from './paid-context';

/** A store that may be able to sign URLs for its artifacts. */
type SigningStore = Pick<ArtifactStore, 'presign'>;

/** A URL from which the service can fetch an artifact, or the reason why there is none. */
type SignedAddress =
  /** A secret: it is used only in the body of one request. */
  { readonly url: string } | { readonly refused: string };

/**
 * Has the store sign a URL for a service with this base URL.
 * @throws ArtifactError if the store does not have the artifact, or fails
 */
export async function signedAddress(
  store: SigningStore,
  artifact: { readonly sha256: string },
  expiresMs: number,
  service: string,
): Promise<SignedAddress> {
  if (store.presign === undefined) return { refused: GIVES_NONE };
  const url = await store.presign(artifact, { expiresMs });
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    return {
      refused: "The artifact store's presign did not return an http or https URL. Fix its implementation.",
    };
  return isWithinReach(new URL(url), new URL(service)) ? { url } : { refused: OUT_OF_REACH };
}

/** The message for a store that cannot sign URLs. */
export const GIVES_NONE =
  "This model accepts references only as URLs, and the worker's artifact store does not provide URLs. Set MEDIA_ARTIFACTS to a bucket (s3://bucket/prefix) that the service can reach, or specify {url}.";
const OUT_OF_REACH =
  "This model accepts references only as URLs, but the service cannot reach the URLs that the worker's artifact store signs, because they point to this machine or its private network. Set AWS_ENDPOINT_URL_S3 where the workers run to the bucket's public URL (in your own store, fix presign), or specify {url}.";

/**
 * Returns which of these models cannot receive references from a store that signs URLs, and the reason. A worker logs
 * this when it starts. Returns undefined if all of the models can, if none accepts URLs, or if nothing is stored yet.
 */
export async function outOfReach(
  store: SigningStore & Pick<ArtifactStore, 'list'>,
  models: readonly ModelEntry[],
  service: string,
): Promise<string | undefined> {
  const takers = models.filter(
    (model) => model.kind === 'video' && model.references?.some(({ form }) => form === 'url') === true,
  );
  if (takers.length === 0 || store.presign === undefined) return undefined;
  const [any] = await store.list(null, 1);
  if (any === undefined) return undefined;
  const address = await signedAddress(store, any, 60_000, service);
  return 'refused' in address ? `${takers.map(({ id }) => id).join(', ')}: ${address.refused}` : undefined;
}

/** A source as the service client sends it: a URL that the service fetches itself, or bytes. */
type ResolvedSource =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'file'; readonly file: WireFile };

type SourceResult = ResolvedSource | { readonly kind: 'issue'; readonly issue: ValidationIssue };

/** Bytes in this worker's store, for which the service receives a URL. */
interface StoredSource {
  readonly kind: 'stored';
  readonly artifact: ArtifactRef;
}

/** The bytes are missing from this worker's store, or the store fails. Another worker may have them. */
interface MissingSource {
  readonly kind: 'missing';
  readonly missing: MissingHere;
}

interface SourceDeps {
  readonly artifacts: ArtifactStore;
  readonly inputRoots: readonly string[];
}

/**
 * Resolves an artifact, or a file in one of the input roots, to its bytes. A file is first copied into the store, so
 * that exactly the bytes that were hashed and recorded are sent. The caller's path is never returned.
 */
export async function resolveSource(
  source: MediaSource,
  field: string,
  deps: SourceDeps,
): Promise<SourceResult | MissingSource> {
  return resolved(source, field, deps, async (artifact, bytes) => {
    const { mediaType, sha256 } = artifact;
    const path = await deps.artifacts.localPath(artifact);
    return { kind: 'file', file: { source: { path }, mediaType, sha256, bytes } };
  });
}

/** Like {@link resolveSource}, for a model that accepts URLs: the bytes stay in the store. */
export async function resolveStored(
  source: MediaSource,
  field: string,
  deps: SourceDeps,
): Promise<SourceResult | StoredSource | MissingSource> {
  return resolved(source, field, deps, async (artifact) => ({ kind: 'stored', artifact }));
}

async function resolved<Found>(
  source: MediaSource,
  field: string,
  deps: SourceDeps,
  found: (artifact: ArtifactRef, bytes: number) => Promise<Found>,
): Promise<SourceResult | Found | MissingSource> {
  if ('url' in source) return { kind: 'url', url: source.url };
  try {
    const artifact = 'artifact' in source ? source.artifact : await storeInputFile(source.file, field, deps);
    if ('issue' in artifact) return { kind: 'issue', issue: artifact.issue };
    const bytes = await deps.artifacts.has(artifact.sha256);
    return bytes === null ? missing(field, NOT_STORED) : await found(artifact, bytes);
  } catch (error) {
    if (!(error instanceof ArtifactError)) throw error;
    if (OF_THE_FILE.has(error.code)) return { kind: 'issue', issue: { field, message: error.message } };
    return missing(field, error.message);
  }
}

const NOT_STORED =
  "The artifact is not in this worker's store, and nothing was sent. Store the file in the artifact store that the workers use (MEDIA_ARTIFACTS). All of a queue's workers need the same store.";

/** Faults in the file itself, which are the same on every worker. */
const OF_THE_FILE: ReadonlySet<ArtifactErrorCode> = new Set(['not_media', 'not_readable', 'too_large']);

/** Returns the result for a call that waits for a worker whose store works and has the bytes. */
export function missing(field: string, message: string): MissingSource {
  return {
    kind: 'missing',
    missing: { cause: 'artifact_missing', reason: 'invalid_request', message, field },
  };
}

async function storeInputFile(
  file: string,
  field: string,
  { artifacts, inputRoots }: SourceDeps,
): Promise<ArtifactRef | { readonly issue: ValidationIssue }> {
  const real = await realInputFile(file, inputRoots);
  if (real === undefined) {
    const message =
      'The worker reads files only from its MEDIA_INPUT_ROOTS, and this file is not in any of them.';
    return { issue: { field, message } };
  }
  return (await ingestFile(artifacts, real)).artifact;
}

/**
 * Returns the real path of a file in one of the input roots. "Outside" and "missing" give the same answer, so a request
 * cannot find out which files a worker has.
 */
export async function realInputFile(
  file: string,
  inputRoots: readonly string[],
): Promise<string | undefined> {
  const real = await realpath(file).catch(otherwise(undefined));
  const roots = await Promise.all(inputRoots.map((root) => realpath(root).catch(otherwise(undefined))));
  return real !== undefined && roots.some((root) => root !== undefined && isBelow(real, root))
    ? real
    : undefined;
}

function isBelow(file: string, root: string): boolean {
  const path = relative(root, file);
  return path !== '' && !path.startsWith('..') && !isAbsolute(path);
}

/** Maximum size of a reference, because it is sent in a JSON body. A larger one must be provided as a URL. */
export const MAX_REFERENCE_BYTES = 64 * 1024 * 1024;
/**
 * Maximum time to fetch a reference: an activity has 10 s in addition to the exchange, and the send needs some of that.
 */
const FETCH_MS = 8_000;

/**
 * Fetches a reference URL's bytes through the address filter for downloads (architecture: Requests), and stores them by
 * hash.
 */
export async function fetchReference(
  url: string,
  field: string,
  client: MediaClient,
  artifacts: ArtifactStore,
): Promise<SourceResult> {
  const refused = (message: string): SourceResult => ({ kind: 'issue', issue: { field, message } });
  const bytes = isDataUrl(url) ? readDataUrl(url, MAX_REFERENCE_BYTES) : await download(url, client);
  if (bytes === undefined)
    return refused(
      'The reference could not be fetched. This model needs the file itself, so the worker must be able to download it.',
    );
  const media = sniffMedia(bytes.subarray(0, SNIFF_BYTES));
  if (media === undefined) return refused('The content of the reference is not an image, video or audio.');
  const artifact = await artifacts.putBuffer(bytes, { mediaType: media.mediaType });
  const file = {
    source: { data: bytes },
    mediaType: media.mediaType,
    sha256: artifact.sha256,
    bytes: artifact.bytes,
  };
  return { kind: 'file', file };
}

async function download(url: string, client: MediaClient): Promise<Buffer | undefined> {
  if (!URL.canParse(url)) return undefined;
  const signal = AbortSignal.timeout(FETCH_MS);
  const result = await client.fetchContent({ url: new URL(url), signal });
  if (result.kind !== 'body') return undefined;
  if (result.contentEncoding !== null || (result.contentLength ?? 0) > MAX_REFERENCE_BYTES) {
    result.body.destroy();
    return undefined;
  }
  return readBounded(result.body, MAX_REFERENCE_BYTES, signal);
}

/**
 * Reads an entire body. Returns undefined if the body is too large, is cut off, or is incomplete when the signal
 * aborts. An idle timer alone would never end a body that sends one byte per minute.
 */
export async function readBounded(
  body: Readable,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  const stop = () => void body.destroy(new Error('too late'));
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const kept = new ReplyBytes();
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      if (kept.size + chunk.length > maxBytes) return undefined;
      await kept.add(chunk);
    }
    return await kept.whole();
  } catch (error) {
    throwBug(error);
    return undefined;
  } finally {
    signal.removeEventListener('abort', stop);
    body.destroy();
    await kept.close();
  }
}
