import { ArtifactError, type ArtifactStore } from '../artifacts/artifact-store';
import { inLanes } from '../domain/in-lanes';
import { type ArtifactRef } from '../domain/media';
import { isPlaceOf, nextToOther } from './media-names';
import { type PageRows } from './page-rows';
import { type ReportFolder } from './report-folder';

/** Files that are copied side by side: most of the time of a small one is waiting for the disk. */
const AT_ONCE = 8;

export interface FetchedMedia {
  readonly written: number;
  readonly missing: number;
  /** Paths that no row uses any more, because another row made their name ambiguous. */
  readonly left: readonly string[];
  /** Whether a row changed. */
  readonly changed: boolean;
}

/** Copies the media of a page that the folder does not have. What the store cannot give is left for the next refresh. */
export async function fetchMedia(
  store: ArtifactStore,
  folder: ReportFolder,
  rows: PageRows,
  names: ReadonlyMap<string, readonly string[]>,
): Promise<FetchedMedia> {
  const counts = { written: 0, missing: 0 };
  const left: string[] = [];
  let changed = false;
  const work = [...rows.values()].filter(({ result }) => result.artifacts.length > 0);
  await inLanes(work, AT_ONCE, async (row) => {
    const wanted = names.get(row.result.key) ?? [];
    const files: (string | null)[] = [];
    for (const { path, sha256 } of row.replaced ?? [])
      if (wanted.includes(path)) await folder.moveAside(path, nextToOther(path, sha256));
    for (const [index, ref] of row.result.artifacts.entries()) {
      const path = wanted[index] ?? '';
      const have = row.files?.[index] ?? null;
      const isThere = have !== null && isPlaceOf(have, path, ref.sha256);
      const file = isThere ? have : await fetchOne(store, folder, ref, path, counts);
      if (file === null) counts.missing += 1;
      else if (have !== null && have !== file) left.push(have);
      files.push(file);
    }
    if (row.files !== undefined && files.every((file, index) => file === row.files?.[index])) return;
    rows.set(row.result.key, { result: row.result, files });
    changed = true;
  });
  return { ...counts, left, changed };
}

async function fetchOne(
  store: ArtifactStore,
  folder: ReportFolder,
  ref: ArtifactRef,
  path: string,
  counts: { written: number },
): Promise<string | null> {
  for (const candidate of [path, nextToOther(path, ref.sha256)]) {
    try {
      if ((await store.fetchTo(ref, folder.path(candidate))) === 'written') counts.written += 1;
      return candidate;
    } catch (error) {
      if (!(error instanceof ArtifactError)) throw error;
      if (error.code === 'not_found' || error.code === 'hash_mismatch') return null;
      if (error.code !== 'destination_occupied') throw error;
    }
  }
  return null;
}
