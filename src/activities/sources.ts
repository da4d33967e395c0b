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

/** A store that may sign addresses of its artifacts. */
type SigningStore = Pick<ArtifactStore, 'presign'>;

/** An address from which the service can fetch an artifact, or why there is none. */
type SignedAddress =
  /** A secret: it goes into the body of one request and nowhere else. */
  { readonly url: string } | { readonly refused: string };

/**
 * Has the store sign an address for a service with this base address.
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
    return { refused: 'The artifact store signs no http or https address: correct its presign.' };
  return isWithinReach(new URL(url), new URL(service)) ? { url } : { refused: OUT_OF_REACH };
}

/** For a store that signs no addresses. */
export const GIVES_NONE =
  'This model takes references as URLs only, and the artifact store of the worker gives none. Set MEDIA_ARTIFACTS to a bucket (s3://bucket/prefix) that the service can reach, or give {url}.';
const OUT_OF_REACH =
  'This model takes references as URLs only, and the service cannot reach the addresses that the artifact store of the worker signs: they name this machine or its private network. Set AWS_ENDPOINT_URL_S3 where the workers run to the public address of the bucket (in a store of your own, correct presign), or give {url}.';

/**
 * Returns which of these models cannot get references from a store that signs addresses, and why, for the log of a
 * starting worker. Undefined if they can, if none takes addresses, and while nothing is stored.
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

/** A source as the service client sends it: an address that the service fetches itself, or bytes. */
type ResolvedSource =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'file'; readonly file: WireFile };

type SourceResult = ResolvedSource | { readonly kind: 'issue'; readonly issue: ValidationIssue };

/** Bytes in the store of this worker; the service gets an address of them. */
interface StoredSource {
  readonly kind: 'stored';
  readonly artifact: ArtifactRef;
}

/** The bytes are not in the store of this worker, or its store fails: another worker may have them. */
interface MissingSource {
  readonly kind: 'missing';
  readonly missing: MissingHere;
}

interface SourceDeps {
  readonly artifacts: ArtifactStore;
  readonly inputRoots: readonly string[];
}

/**
 * Resolves an artifact or a file below the input roots to its bytes. A file is first copied into the store, so exactly
 * the hashed and recorded bytes are sent; no path leaves this function.
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

/** As {@link resolveSource}, for a model that takes addresses: the bytes stay in the store. */
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
  "The artifact is not in this worker's store, and nothing was sent. Store the file in the artifact store that the workers use (MEDIA_ARTIFACTS); all workers of a queue need the same one.";

/** Faults of the file itself: the same on every worker. */
const OF_THE_FILE: ReadonlySet<ArtifactErrorCode> = new Set(['not_media', 'not_readable', 'too_large']);

/** The call waits for a worker whose store works and has the bytes. */
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
      'The worker reads files only below its MEDIA_INPUT_ROOTS, and there is no such file below them.';
    return { issue: { field, message } };
  }
  return (await ingestFile(artifacts, real)).artifact;
}

/**
 * Returns the real path of a file below one of the input roots. "Outside" and "missing" give the same answer, so a
 * request cannot find out which files a worker has.
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

/** A reference is sent inside a JSON body; a larger one must be served by URL. */
export const MAX_REFERENCE_BYTES = 64 * 1024 * 1024;
/** An activity has 10 s besides the exchange, and the send needs some of them. */
const FETCH_MS = 8_000;

/**
 * Fetches the bytes of a reference URL through the address filter of downloads (architecture: Requests), and stores
 * them by hash.
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
    return refused('The reference could not be fetched: this model wants its bytes, not its address.');
  const media = sniffMedia(bytes.subarray(0, SNIFF_BYTES));
  if (media === undefined) return refused('By its bytes the reference is not an image, video or audio.');
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
 * Reads a whole body; undefined if it is too large, breaks off, or is incomplete when the signal aborts. An idle timer
 * alone would never end a body of one byte a minute.
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
