import { createHash } from 'node:crypto';
import { type CampaignRowResult, type ArtifactRef } from 'temporal-media';
import { mapConcurrently } from 'temporal-media/internal/domain/map-concurrently';
import { ArtifactError } from 'temporal-media/internal/stores/artifacts/artifact-store';
import { extensionOf } from 'temporal-media/internal/stores/artifacts/media-type';
import { type ArtifactStore } from 'temporal-media/stores';
import { pageNumber, pageOf, type PageRows, type ReportRow } from './page-rows';
import { type ReportFolder, safeName } from './report-folder';

/** Number of files to copy concurrently, because copying small files mostly means waiting for the disk. */
const AT_ONCE = 8;

interface FetchedMedia {
  readonly written: number;
  readonly missing: number;
  /** Paths no longer in use, because another row made their name ambiguous. */
  readonly left: readonly string[];
  /** Whether a row changed. */
  readonly changed: boolean;
}

/** Copies a page's missing media into the folder. The next refresh retries media that the store lacks. */
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
  await mapConcurrently(work, AT_ONCE, async (row) => {
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

/**
 * Paths of media in a report. `one_folder`: `media/KEY.mp4`, or `media/KEY-2.png` for the second of several.
 * `page_folders`: `media/0001/KEY~0.mp4`, `media/0001/KEY~0~2.png`.
 */
export type MediaLayout = 'one_folder' | 'page_folders';

/** Maximum number of rows whose media share one folder, to keep it browsable. */
const MOST_IN_ONE_FOLDER = 1_000;
/** Maximum number of files per row in one folder. With 200 rows per page, a page folder has at most 1,000 files. */
const FILES_PER_ROW = 5;

export function layoutFor(rows: number): MediaLayout {
  return rows <= MOST_IN_ONE_FOLDER ? 'one_folder' : 'page_folders';
}

/**
 * Returns media paths by key for rows that share folders: with `one_folder`, all rows of the report; otherwise, the
 * rows of one page. Depends only on the rows, not on their order, and never on a prompt or service text. A safe name
 * never contains `~`, so a name with `~` never equals another row's name.
 */
export function mediaNames(
  rows: readonly ReportRow[],
  layout: MediaLayout,
): ReadonlyMap<string, readonly string[]> {
  const taken = new Map<string, Set<string>>();
  for (const { result } of rows)
    for (const name of claims(result, layout))
      taken.set(name, (taken.get(name) ?? new Set()).add(result.key));
  return new Map(
    rows.map(({ result }) => {
      const shared = claims(result, layout).some((name) => (taken.get(name)?.size ?? 0) > 1);
      return [result.key, paths(result, layout, shared ? distinct(result.key) : safeName(result.key))];
    }),
  );
}

/** Returns the alternative path for a file whose own path has other content. */
function nextToOther(path: string, sha256: string): string {
  return path.replace(/\.([a-z0-9]+)$/, `~${sha256.slice(0, 12)}.$1`);
}

/**
 * Whether `have` is a valid path for the file: its own path, or the alternative one if its own path has other content.
 */
export function isPlaceOf(have: string, path: string, sha256: string): boolean {
  return have === path || have === nextToOther(path, sha256);
}

/** Returns the names that a row uses, in lowercase for case-insensitive file systems. */
function claims(result: CampaignRowResult, layout: MediaLayout): string[] {
  const name = safeName(result.key);
  const stems = result.artifacts.map((_artifact, index) => stem(result, layout, name, index));
  return [...new Set([name, ...stems])].map((one) => one.toLowerCase());
}

function paths(result: CampaignRowResult, layout: MediaLayout, name: string): string[] {
  return result.artifacts.map(
    ({ mediaType }, index) =>
      `${folder(result, layout, index)}/${stem(result, layout, name, index)}.${extensionOf(mediaType)}`,
  );
}

function stem(
  { artifacts, attempt }: CampaignRowResult,
  layout: MediaLayout,
  name: string,
  index: number,
): string {
  const mark = layout === 'one_folder' ? '-' : '~';
  const number = artifacts.length > 1 ? `${mark}${index + 1}` : '';
  return layout === 'one_folder' ? `${name}${number}` : `${name}~${attempt}${number}`;
}

function folder(result: CampaignRowResult, layout: MediaLayout, index: number): string {
  if (layout === 'one_folder') return 'media';
  const part = Math.floor(index / FILES_PER_ROW);
  const parts = [
    pageNumber(pageOf(result)),
    ...(result.generation > 0 ? [`g${result.generation}`] : []),
    ...(part > 0 ? [`${part + 1}`] : []),
  ];
  return `media/${parts.join('-')}`;
}

function distinct(key: string): string {
  return `${safeName(key)}~${createHash('sha256').update(key).digest('hex').slice(0, 16)}`;
}
