import { LRUCache } from 'lru-cache';
import { type CampaignRowResult } from 'temporal-media';
import { type PlanIndex } from 'temporal-media/internal/domain/campaign/plan';
import { type PlanAddress, type ResultsIndex } from 'temporal-media/internal/domain/campaign/results';
import { type CampaignPage, type CampaignRow } from 'temporal-media/internal/domain/campaign/row';
import { readJson, readSegment } from 'temporal-media/internal/manifest/result-lines';
import { ArtifactError } from 'temporal-media/internal/stores/artifacts/artifact-store';
import { type ArtifactStore } from 'temporal-media/stores';
import {
  pageOf,
  type PageRows,
  pagesOnDisk,
  readPage,
  type ReplacedFile,
  type ReportRow,
  writePage,
} from './page-rows';
import { ReportError, type ReportFolder } from './report-folder';
import { type ReportOptions } from './report-options';
import { type ReportState, shortHash } from './report-state';

/** Maximum number of pages in memory. Rows finish roughly in manifest order, so few pages are open at the same time. */
const OPEN_PAGES = 96;

interface OpenPage {
  readonly page: number;
  readonly rows: PageRows;
  dirty: boolean;
}

/**
 * Sorts results into pages. For each key it keeps the line with the highest generation, or the later line if both are
 * equal. Memory use does not grow with the number of rows, with one exception: if there are several plans, the page
 * number of each key stays in memory.
 */
class ResultsMerger {
  /** Pages that this refresh changed or added a line to. */
  readonly touched = new Set<number>();
  readonly #open = new LRUCache<number, OpenPage>({ max: OPEN_PAGES });
  #places: Map<string, number> | null = null;

  /** @param rowGeneration highest generation in the pages */
  constructor(
    private readonly folder: ReportFolder,
    public rowGeneration: number,
  ) {}

  async add(result: CampaignRowResult): Promise<void> {
    if (!Number.isSafeInteger(result.row) || result.row < 0 || typeof result.key !== 'string')
      throw new ReportError('unreadable', "A line in the campaign's results is not a valid result.");
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

  /** Writes all open pages. */
  async flush(): Promise<void> {
    while (this.#open.size > 0) await this.#closeOne();
  }

  /** Removes the key from the page of an earlier manifest. @returns the removed row, or `newer` if that row is newer */
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

  async #page(page: number): Promise<OpenPage> {
    const there = this.#open.get(page);
    if (there !== undefined) return there;
    if (this.#open.size >= OPEN_PAGES) await this.#closeOne();
    const opened = { page, rows: await readPage(this.folder, page), dirty: false };
    this.#open.set(page, opened);
    return opened;
  }

  /** Writes the least recently used page, if it changed, to make room for another page. */
  async #closeOne(): Promise<void> {
    const opened = this.#open.pop();
    if (opened?.dirty === true) await writePage(this.folder, opened.page, opened.rows);
  }
}

/** Returns the media of earlier results that this result does not contain. */
function replacedBy({ artifacts }: CampaignRowResult, before: ReportRow | undefined): ReplacedFile[] {
  const fetched = (before?.files ?? []).flatMap((path, index) => {
    const sha256 = before?.result.artifacts[index]?.sha256;
    return path === null || sha256 === undefined ? [] : [{ path, sha256 }];
  });
  const now = new Set(artifacts.map(({ sha256 }) => sha256));
  return [...(before?.replaced ?? []), ...fetched].filter(({ sha256 }) => !now.has(sha256));
}

/**
 * Awaits the content of an artifact. The content may contain prompts, and a SyntaxError quotes it, so that error is
 * replaced.
 */
async function parsed<T>(content: Promise<T>): Promise<T> {
  try {
    return await content;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ReportError('unreadable', 'An artifact of the campaign is not valid JSON.');
  }
}

/** The new results state, and the pages with new results. */
interface MergedResults extends Pick<ReportState, 'segments' | 'rowGeneration'> {
  readonly touched: ReadonlySet<number>;
}

/**
 * Adds the rows of new segments to their pages, in order. Does not open an index if all of its segments have been
 * merged.
 */
export async function mergeSegments(
  folder: ReportFolder,
  { store, results, signal }: Pick<ReportOptions, 'store' | 'results' | 'signal'>,
  before: ReportState,
): Promise<MergedResults> {
  const known = new Set(before.segments);
  const merger = new ResultsMerger(folder, Math.max(before.rowGeneration, results.generation));
  const merge = async (segment: string): Promise<void> => {
    if (known.has(shortHash(segment))) return;
    signal?.throwIfAborted();
    for (const row of await parsed(readSegment(store, segment))) await merger.add(row);
    known.add(shortHash(segment));
  };
  for (const index of results.indexes) {
    if (known.has(shortHash(index))) continue;
    signal?.throwIfAborted();
    const { segments } = await parsed(readJson<ResultsIndex>(store, index));
    for (const segment of segments) await merge(segment);
    known.add(shortHash(index));
  }
  for (const segment of results.segments) await merge(segment);
  await merger.flush();
  return { touched: merger.touched, segments: [...known], rowGeneration: merger.rowGeneration };
}

/** Maximum number of plan pages in memory. */
const OPEN_PLAN_PAGES = 16;

/** Planned rows with their calls. The calls are stored in the plan's pages, but not in the results. */
export class PlannedRows {
  readonly #indexes = new Map<number, PlanIndex | null>();
  readonly #pages: LRUCache<string, { readonly found: CampaignPage | null }>;

  constructor(
    private readonly store: ArtifactStore,
    private readonly plans: readonly PlanAddress[],
  ) {
    this.#pages = new LRUCache({
      max: OPEN_PLAN_PAGES,
      fetchMethod: async (sha256) => ({ found: await this.#read<CampaignPage>(sha256) }),
      ignoreFetchAbort: true,
    });
  }

  /** Returns undefined if the plan is unknown or no longer in the store. */
  async find({ generation, page, index, key }: CampaignRowResult): Promise<CampaignRow | undefined> {
    const sha256 = (await this.#index(generation))?.pages[page]?.sha256;
    if (sha256 === undefined) return undefined;
    const rows = (await this.#pages.forceFetch(sha256)).found?.rows ?? [];
    return rows[index]?.key === key ? rows[index] : rows.find((row) => row.key === key);
  }

  async #index(generation: number): Promise<PlanIndex | null> {
    const known = this.#indexes.get(generation);
    if (known !== undefined) return known;
    const address = this.plans.find((plan) => plan.generation === generation);
    const index = address === undefined ? null : await this.#read<PlanIndex>(address.index);
    this.#indexes.set(generation, index);
    return index;
  }

  async #read<T>(sha256: string): Promise<T | null> {
    try {
      return await parsed(readJson<T>(this.store, sha256));
    } catch (error) {
      if (error instanceof ArtifactError && error.code === 'not_found') return null;
      throw error;
    }
  }
}
