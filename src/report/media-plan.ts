import { inOrder, pagesOnDisk, type PageRows, readPage } from './page-rows';
import { isPlaceOf, type MediaLayout, mediaNames } from './media';
import { type ReportFolder } from './report-folder';

/** Paths of media, as far as they depend on other rows. */
export interface MediaPlan {
  /** Pages with media that have a new name because of a row of another page. */
  readonly renamed: readonly number[];
  namesOf(rows: PageRows): ReadonlyMap<string, readonly string[]>;
}

/** Names must be unique among all rows of the report in one folder, and among the rows of a page in page folders. */
export async function planMedia(folder: ReportFolder, layout: MediaLayout): Promise<MediaPlan> {
  if (layout === 'page_folders') return { renamed: [], namesOf: (rows) => mediaNames(inOrder(rows), layout) };
  const pages = new Map<number, PageRows>();
  for (const page of await pagesOnDisk(folder)) pages.set(page, await readPage(folder, page));
  const names = mediaNames(
    [...pages.values()].flatMap((rows) => [...rows.values()]),
    layout,
  );
  const renamed = [...pages].filter(([, rows]) => hasOtherNames(rows, names)).map(([page]) => page);
  return { renamed, namesOf: () => names };
}

function hasOtherNames(rows: PageRows, names: ReadonlyMap<string, readonly string[]>): boolean {
  return [...rows.values()].some(({ result, files = [] }) =>
    files.some((have, index) => {
      const [path, sha256] = [names.get(result.key)?.[index], result.artifacts[index]?.sha256];
      return have !== null && path !== undefined && sha256 !== undefined && !isPlaceOf(have, path, sha256);
    }),
  );
}
