import { inOrder, pagesOnDisk, type PageRows, readPage } from './page-rows';
import { isPlaceOf, type MediaLayout, mediaNames } from './media';
import { type ReportFolder } from './report-folder';

/** Where the media of rows go, as far as other rows have a say in it. */
export interface MediaPlan {
  /** Pages with media that have another name by now, because of a row of another page. */
  readonly renamed: readonly number[];
  namesOf(rows: PageRows): ReadonlyMap<string, readonly string[]>;
}

/** In one folder all rows share the names; in folders of pages those of a page do. */
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
