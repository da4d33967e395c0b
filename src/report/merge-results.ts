import { type CampaignRowResult } from '../domain/campaign/row';
import {
  pageOf,
  pagesOnDisk,
  readPage,
  type ReplacedFile,
  type ReportRow,
  writePage,
  type PageRows,
} from './page-rows';
import { type ReportFolder } from './report-folder';

/** Pages in memory at a time: rows end roughly in the order of the manifest, so that few are open at once. */
const OPEN_PAGES = 96;

/**
 * Puts results into pages: for one key the line with the highest generation stands, of equal ones the later.
 * Memory does not grow with the rows; only where rows of several plans meet, the place of each key is kept.
 */
export class ResultsMerger {
  /** Pages that any line belonged to, in this refresh. */
  readonly touched = new Set<number>();
  readonly #open = new Map<number, { readonly rows: PageRows; dirty: boolean }>();
  #places: Map<string, number> | null = null;

  /** @param rowGeneration highest generation that is in the pages */
  constructor(
    private readonly folder: ReportFolder,
    public rowGeneration: number,
  ) {}

  async add(result: CampaignRowResult): Promise<void> {
    const page = pageOf(result);
    this.rowGeneration = Math.max(this.rowGeneration, result.generation);
    this.touched.add(page);
    const elsewhere = await this.#leaveOtherPage(result, page);
    if (elsewhere === 'newer') return;
    const opened = await this.#page(page);
    const before = opened.rows.get(result.key);
    if (before !== undefined && before.result.generation > result.generation) return;
    this.#places?.set(result.key, page);
    if (before !== undefined && JSON.stringify(before.result) === JSON.stringify(result)) return;
    const replaced = [...replacedBy(result, elsewhere), ...replacedBy(result, before)];
    opened.rows.set(result.key, { result, ...(replaced.length > 0 && { replaced }) });
    opened.dirty = true;
  }

  /** Writes what is open. */
  async flush(): Promise<void> {
    for (const page of [...this.#open.keys()]) await this.#close(page);
  }

  /** A key whose row stood elsewhere in an earlier manifest. @returns what it left there, unless that is newer */
  async #leaveOtherPage(result: CampaignRowResult, page: number): Promise<ReportRow | undefined | 'newer'> {
    if (this.rowGeneration === 0) return undefined;
    this.#places ??= await this.#readPlaces();
    const other = this.#places.get(result.key);
    if (other === undefined || other === page) return undefined;
    const opened = await this.#page(other);
    const before = opened.rows.get(result.key);
    if (before === undefined) return undefined;
    if (before.result.generation > result.generation) return 'newer';
    opened.rows.delete(result.key);
    opened.dirty = true;
    this.touched.add(other);
    return before;
  }

  async #readPlaces(): Promise<Map<string, number>> {
    await this.flush();
    const places = new Map<string, number>();
    for (const page of await pagesOnDisk(this.folder))
      for (const key of (await readPage(this.folder, page)).keys()) places.set(key, page);
    return places;
  }

  async #page(page: number): Promise<{ readonly rows: PageRows; dirty: boolean }> {
    const there = this.#open.get(page);
    if (there !== undefined) {
      this.#open.delete(page);
      this.#open.set(page, there);
      return there;
    }
    const oldest = this.#open.keys().next();
    if (this.#open.size >= OPEN_PAGES && oldest.done !== true) await this.#close(oldest.value);
    const opened = { rows: await readPage(this.folder, page), dirty: false };
    this.#open.set(page, opened);
    return opened;
  }

  async #close(page: number): Promise<void> {
    const opened = this.#open.get(page);
    this.#open.delete(page);
    if (opened?.dirty === true) await writePage(this.folder, page, opened.rows);
  }
}

/** Media of earlier results that are no part of this one. */
function replacedBy({ artifacts }: CampaignRowResult, before: ReportRow | undefined): ReplacedFile[] {
  const fetched = (before?.files ?? []).flatMap((path, index) => {
    const sha256 = before?.result.artifacts[index]?.sha256;
    return path === null || sha256 === undefined ? [] : [{ path, sha256 }];
  });
  const now = new Set(artifacts.map(({ sha256 }) => sha256));
  return [...(before?.replaced ?? []), ...fetched].filter(({ sha256 }) => !now.has(sha256));
}
