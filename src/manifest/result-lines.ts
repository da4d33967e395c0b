import { buffer } from 'node:stream/consumers';
import { type ResultsIndex, type ResultsRef } from '../domain/campaign/results';
import { type CampaignRowResult } from '../domain/campaign/row';
import { type ArtifactStore } from '../stores/artifacts/artifact-store';

/** The part of an artifact store that is read from. */
type ReadableStore = Pick<ArtifactStore, 'read'>;

/** Reads a JSON document of this package from the store. @throws ArtifactError when it is missing or has another hash */
export async function readJson<T>(store: ReadableStore, sha256: string): Promise<T> {
  const bytes = await buffer(await store.read({ sha256 }));
  return JSON.parse(bytes.toString('utf8')) as T;
}

/** SHA-256 of every segment, in order: those in the indexes, then those that are not in an index yet. */
export async function* resultSegments(store: ReadableStore, ref: ResultsRef): AsyncGenerator<string> {
  for (const index of ref.indexes) yield* (await readJson<ResultsIndex>(store, index)).segments;
  yield* ref.segments;
}

/** Lines of one segment, in order; the whole segment is verified first. A batch writes a segment at once. */
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
 * Every line of the results of a campaign, in the order in which they were written, one at a time. A row that was
 * resumed has several lines: {@link latestResults} yields the valid one.
 * @throws ArtifactError when a segment is missing or damaged
 */
export async function* readResults(store: ReadableStore, ref: ResultsRef): AsyncGenerator<CampaignRowResult> {
  for await (const sha256 of resultSegments(store, ref)) yield* await readSegment(store, sha256);
}

/**
 * The valid line of each row, in the order in which they were written: the last one of the highest generation. Reads
 * the segments twice and keeps the keys, also for a million rows.
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
