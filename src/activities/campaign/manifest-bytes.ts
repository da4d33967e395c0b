import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { ArtifactError, systemCode } from '../../artifacts/artifact-error';
import { type ArtifactStore } from '../../artifacts/artifact-store';
import { type MediaSource } from '../../domain/media';
import { ManifestUnreadableError } from '../../manifest/manifest-error';
import { type MediaClient } from '../../service/media-client';
import { retryLater } from '../failures';
import { realInputFile } from '../resolve-source';

export interface ManifestBytesDeps {
  readonly artifacts: ArtifactStore;
  /** Folders below which a manifest may be read. */
  readonly inputRoots: readonly string[];
  /** Of the account of the campaign: knows which addresses may be asked. */
  readonly client: MediaClient | undefined;
  readonly signal: AbortSignal;
}

/**
 * The bytes of a manifest, as often as they are asked for. An address is fetched once, through the address filter of
 * downloads, and kept as an artifact: what was judged is then what is planned.
 * @throws ManifestUnreadableError for what another try will not change, else a retryable failure
 */
export function manifestBytes(
  source: MediaSource,
  deps: ManifestBytesDeps,
): () => Promise<AsyncIterable<Uint8Array>> {
  if ('file' in source) return () => readFile(source.file, deps.inputRoots);
  let fetched: Promise<{ readonly sha256: string }> | undefined;
  return async () => {
    fetched ??= 'artifact' in source ? Promise.resolve(source.artifact) : fetchManifest(source.url, deps);
    return readArtifact(await fetched, deps.artifacts);
  };
}

async function readArtifact(
  artifact: { readonly sha256: string },
  artifacts: ArtifactStore,
): Promise<AsyncIterable<Uint8Array>> {
  try {
    return (await artifacts.read(artifact)) as AsyncIterable<Uint8Array>;
  } catch (error) {
    if (!(error instanceof ArtifactError) || error.code !== 'not_found') throw error;
    throw new ManifestUnreadableError(
      "The manifest is not in this worker's store. Store it in the artifact store that the worker uses (MEDIA_ARTIFACTS).",
    );
  }
}

async function readFile(path: string, roots: readonly string[]): Promise<AsyncIterable<Uint8Array>> {
  const real = await realInputFile(path, roots);
  if (real === undefined)
    throw new ManifestUnreadableError(
      'The worker reads files only below its MEDIA_INPUT_ROOTS, and there is no such manifest below them.',
    );
  try {
    // Without O_NONBLOCK, opening a pipe would wait for a writer for ever.
    const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if ((await handle.stat()).isFile()) return handle.createReadStream() as AsyncIterable<Uint8Array>;
    await handle.close();
  } catch (error) {
    throw new ManifestUnreadableError(`The manifest cannot be read (${systemCode(error)}).`);
  }
  throw new ManifestUnreadableError('The manifest is no regular file.');
}

async function fetchManifest(
  url: string,
  { client, artifacts, signal }: ManifestBytesDeps,
): Promise<{ readonly sha256: string }> {
  if (client === undefined)
    throw new ManifestUnreadableError('The worker has no credential of the name that the campaign gives.');
  if (!URL.canParse(url)) throw new ManifestUnreadableError('The address of the manifest is none.');
  const result = await client.fetchContent({ url: new URL(url), signal });
  switch (result.kind) {
    case 'blocked':
      throw new ManifestUnreadableError(`The address of the manifest may not be asked (${result.reason}).`);
    case 'network':
      if (result.retryable) throw notNow(`The manifest cannot be fetched now (${result.code}).`);
      throw new ManifestUnreadableError(`The manifest cannot be fetched (${result.code}).`);
    case 'refused': {
      const { status, retryAfterMs } = result;
      if (status === 408 || status === 429 || status >= 500)
        throw notNow(`The address of the manifest answers with HTTP ${status}.`, status, retryAfterMs);
      throw new ManifestUnreadableError(`The address of the manifest answers with HTTP ${status}.`);
    }
    case 'body':
      break;
  }
  if (result.contentEncoding !== null) {
    result.body.destroy();
    throw new ManifestUnreadableError('The address of the manifest sends it compressed, unasked.');
  }
  try {
    return await artifacts.putStream(result.body as AsyncIterable<Uint8Array>, {
      mediaType: 'application/octet-stream',
    });
  } catch (error) {
    if (error instanceof ArtifactError) throw error;
    throw notNow(`The manifest broke off (${systemCode(error)}).`);
  }
}

function notNow(message: string, httpStatus?: number, delayMs?: number) {
  return retryLater({
    class: 'manifest_unavailable',
    message,
    ...(httpStatus !== undefined && { httpStatus }),
    ...(delayMs !== undefined && { delayMs }),
  });
}
