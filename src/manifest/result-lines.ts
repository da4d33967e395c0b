import { buffer } from 'node:stream/consumers';
import { type ResultsIndex, type ResultsRef } from '../domain/campaign/results';
import { type CampaignRowResult } from '../domain/campaign/row';
import { type ArtifactStore } from '../stores/artifacts/artifact-store';

/** An artifact store that can be read. */
type ReadableStore = Pick<ArtifactStore, 'read'>;

/** Reads one of this package's JSON documents. @throws ArtifactError if it is missing or does not match its hash */
export async function readJson<T>(store: ReadableStore, sha256: string): Promise<T> {
  const bytes = await buffer(await store.read({ sha256 }));
  return JSON.parse(bytes.toString('utf8')) as T;
}

/** Yields the SHA-256 of every segment in order: first the indexed segments, then those not indexed yet. */
export async function* resultSegments(store: ReadableStore, ref: ResultsRef): AsyncGenerator<string> {
  for (const index of ref.indexes) yield* (await readJson<ResultsIndex>(store, index)).segments;
  yield* ref.segments;
}

/** Reads one segment's lines in order, after verifying the whole segment. */
export async function readSegment(
  store: ReadableStore,
  sha256: string,
): Promise<readonly CampaignRowResult[]> {
  const text = (await buffer(await store.read({ sha256 }))).toString('utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as CampaignRowResult);
}

/**
 * Yields every line of a campaign's results in the order they were written. A resumed row has several lines, of which
 * {@link latestResults} yields only the valid one.
 * @throws ArtifactError if a segment is missing or damaged
 */
export async function* readResults(store: ReadableStore, ref: ResultsRef): AsyncGenerator<CampaignRowResult> {
  for await (const sha256 of resultSegments(store, ref)) yield* await readSegment(store, sha256);
}

/**
 * Yields each row's valid line, which is the last one of the highest generation, in the order they were written. Reads
 * the segments twice and keeps all keys in memory, even for a million rows.
 */
export async function* latestResults(
  store: ReadableStore,
  ref: ResultsRef,
): AsyncGenerator<CampaignRowResult> {
  const valid = new Map<string, { readonly ordinal: number; readonly generation: number }>();
  let ordinal = 0;
  for await (const { key, generation } of readResults(store, ref)) {
    ordinal += 1;
    if (generation >= (valid.get(key)?.generation ?? 0)) valid.set(key, { ordinal, generation });
  }
  ordinal = 0;
  for await (const result of readResults(store, ref)) {
    ordinal += 1;
    if (valid.get(result.key)?.ordinal === ordinal) yield result;
  }
}
