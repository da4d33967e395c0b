import { type ArtifactStore } from '../artifacts/artifact-store';
import { SNIFF_BYTES, sniffMedia } from '../artifacts/media-type';
import { readDataUrl } from '../service/data-url';
import { type MediaClient } from '../service/media-client';
import { readBounded } from './read-bounded';
import { type SourceResult } from './resolve-source';

/** A reference travels inside a JSON body: more than this belongs on a server of its own. */
export const MAX_REFERENCE_BYTES = 64 * 1024 * 1024;
/** An activity has 10 s besides the exchange itself; the send needs some of them. */
const FETCH_MS = 8_000;

/** Bytes of a reference URL, through the same address filter as downloads (architecture: Requests), stored by hash. */
export async function fetchReference(
  url: string,
  field: string,
  client: MediaClient,
  artifacts: ArtifactStore,
): Promise<SourceResult> {
  const refused = (message: string): SourceResult => ({ kind: 'issue', issue: { field, message } });
  const bytes = /^data:/i.test(url) ? readDataUrl(url, MAX_REFERENCE_BYTES) : await download(url, client);
  if (bytes === undefined)
    return refused('The reference could not be fetched: this model wants its bytes, not its address.');
  const media = sniffMedia(bytes.subarray(0, SNIFF_BYTES));
  if (media === undefined) return refused('The reference is no image, video or audio by its bytes.');
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
