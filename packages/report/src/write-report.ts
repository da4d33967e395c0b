import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { otherwise } from 'temporal-media/internal/domain/bug';
import { endedRows, type PlanAddress } from 'temporal-media/internal/domain/campaign/results';
import { ArtifactError, toArtifactError } from 'temporal-media/internal/stores/artifacts/artifact-store';
import {
  acquireOwnerLock,
  LockHeldError,
  type OwnerLock,
} from 'temporal-media/internal/stores/files/owner-lock';
import { type GalleryPageOptions, writeGalleryIndex, writeGalleryPage } from './gallery-pages';
import { TEMPLATES_DIGEST } from './gallery-templates';
import { fetchMedia, layoutFor, isPlaceOf, type MediaLayout, mediaNames } from './media';
import { pagesOnDisk, readPage, writePage, inOrder, type PageRows } from './page-rows';
import { mergeSegments, PlannedRows } from './read-results';
import { claimFolder, isMediaPart, ReportError, type ReportFolder, STATE_FOLDER } from './report-folder';
import { isNewer, type ReportOptions, type ReportSummary } from './report-options';
import { addGroups, readState, writeState, type PageFacts, type ReportState } from './report-state';
import { hasTables, summaryJson, writeTables } from './tables';

const UNFINISHED = `${STATE_FOLDER}/unfinished`;

/**
 * Writes or refreshes a campaign's report: tables, media and a gallery, in one folder that can be moved. Reads and
 * writes only what is new. No matter when the process is stopped, every file is complete, and the next refresh finishes
 * the work. A result from an older plan never replaces a newer one, and older totals never replace newer ones.
 * @throws ReportError, ArtifactError (the store or the folder)
 */
export async function writeReport(options: ReportOptions): Promise<ReportSummary> {
  const directory = resolve(options.out);
  const folder = await claimFolder(directory, options.facts.campaign);
  try {
    const lock = await lockReport(folder);
    try {
      await folder.begin();
      return await refresh(folder, options);
    } finally {
      await lock.release();
    }
  } catch (error) {
    if (error instanceof ReportError || error instanceof ArtifactError || options.signal?.aborted === true)
      throw error;
    throw toArtifactError(error, "The report's folder");
  }
}

/**
 * Locks the report, because one of two concurrent refreshes could replace a newer page with an older one.
 * @throws ReportError `busy` if another process is writing the report
 */
async function lockReport(folder: ReportFolder): Promise<OwnerLock> {
  try {
    // A report may be on a network share, with a different clock and caches.
    return await acquireOwnerLock(folder.path(`${STATE_FOLDER}/lock`), {
      waitMs: 0,
      foreignStaleMs: 10 * 60_000,
    });
  } catch (error) {
    if (error instanceof LockHeldError)
      throw new ReportError(
        'busy',
        'Another process is writing this report. Try again when it has finished.',
      );
    throw error;
  }
}

async function refresh(folder: ReportFolder, options: ReportOptions): Promise<ReportSummary> {
  const { store, results, facts, signal } = options;
  const before = await readState(folder, facts.campaign);
  const given = { generation: results.generation, facts };
  const newest = isNewer(given, before.newest) ? given : (before.newest ?? given);
  const plans = knownPlans(options, before);
  const isRepair = await beginRefresh(folder);
  const merged = await mergeSegments(folder, options, before);
  const appearance = appearanceDigest(newest.facts.currency);
  const pages = new Map(Object.entries(before.pages).map(([page, kept]) => [Number(page), kept]));
  const onDisk = await pagesOnDisk(folder);
  const layout = before.layout ?? layoutFor(newest.facts.plan?.rows ?? endedRows(newest.facts.counts));
  // Written before the first file name depends on the layout.
  if (before.layout === null && onDisk.length > 0) await writeState(folder, { ...before, layout });
  const media = await planMedia(folder, layout);
  const again = pagesToMake([...merged.touched, ...media.renamed, ...(isRepair ? onDisk : [])], pages, {
    newAppearance: appearance !== before.look,
    newPlans: plans.length !== before.plans.length,
  });
  const gallery: GalleryPageOptions = {
    folder,
    planned: new PlannedRows(store, plans),
    campaign: facts.campaign,
    currency: newest.facts.currency,
  };
  const done = { pagesWritten: 0, filesWritten: 0 };
  for (const [number, page] of again.entries()) {
    signal?.throwIfAborted();
    const made = await makePage(gallery, options, media, page, pages.get(page));
    if (made.facts.rows === 0) pages.delete(page);
    else pages.set(page, made.facts);
    done.pagesWritten += made.pagesWritten;
    done.filesWritten += made.filesWritten;
    options.onProgress?.({ pages: again.length, pagesDone: number + 1, files: done.filesWritten });
  }
  const inOrder = [...pages].sort(([a], [b]) => a - b);
  const rows = inOrder.reduce((sum, [, page]) => sum + page.rows, 0);
  const missing = inOrder.reduce((sum, [, page]) => sum + page.missing, 0);
  if (isRepair || again.length > 0 || !(await hasTables(folder)))
    await writeTables({ folder, pages: inOrder.map(([page]) => page), currency: newest.facts.currency });
  const groups = addGroups(inOrder.flatMap(([, page]) => page.groups));
  await folder.write('summary.json', summaryJson(newest.generation, newest.facts, { rows, missing }, groups));
  await writeGalleryIndex(folder, newest.facts, inOrder, groups);
  // The files must be durable before the state refers to them.
  await folder.sync();
  await writeState(folder, {
    v: 1,
    campaign: facts.campaign,
    layout: onDisk.length > 0 ? layout : null,
    segments: merged.segments,
    plans,
    pages: Object.fromEntries(inOrder),
    newest,
    rowGeneration: merged.rowGeneration,
    look: appearance,
  });
  await folder.sync();
  await folder.remove(UNFINISHED);
  return {
    directory: folder.root,
    index: join(folder.root, 'index.html'),
    generation: newest.generation,
    rows,
    pages: inOrder.reduce((sum, [, { parts }]) => sum + parts.length, 0),
    ...done,
    filesMissing: missing,
    newest: newest === given,
  };
}

/**
 * Marks the report as unfinished until the state is written. @returns whether it was already marked, which means that
 * an earlier refresh was stopped and its pages may have more rows than the state
 */
async function beginRefresh(folder: ReportFolder): Promise<boolean> {
  if ((await folder.read(UNFINISHED)) !== null) {
    await removeParts(folder);
    return true;
  }
  await folder.write(UNFINISHED, '');
  await folder.sync();
  return false;
}

/** Writes media first, then the files that link to them. */
async function makePage(
  gallery: GalleryPageOptions,
  { store }: ReportOptions,
  plan: MediaPlan,
  page: number,
  before: PageFacts | undefined,
): Promise<{ readonly facts: PageFacts; readonly pagesWritten: number; readonly filesWritten: number }> {
  const { folder } = gallery;
  const rows = await readPage(folder, page);
  const media = await fetchMedia(store, folder, rows, plan.namesOf(rows));
  if (media.changed) await writePage(folder, page, rows);
  const { facts, written } = await writeGalleryPage(gallery, page, rows, before);
  for (const path of media.left) await folder.remove(path);
  return { facts, pagesWritten: written, filesWritten: media.written };
}

/** Returns the pages with new rows and the pages whose missing parts may now be available. */
function pagesToMake(
  touched: Iterable<number>,
  pages: ReadonlyMap<number, PageFacts>,
  { newAppearance, newPlans }: { readonly newAppearance: boolean; readonly newPlans: boolean },
): number[] {
  const again = new Set(touched);
  for (const [page, { missing, unplanned }] of pages)
    if (newAppearance || missing > 0 || (newPlans && unplanned > 0)) again.add(page);
  return [...again].sort((a, b) => a - b);
}

function knownPlans(
  { plans = [], results, facts }: ReportOptions,
  before: ReportState,
): readonly PlanAddress[] {
  const current: PlanAddress[] =
    facts.plan === null ? [] : [{ generation: facts.plan.generation, index: facts.plan.index.sha256 }];
  const all = [...before.plans, ...plans, ...(results.plans ?? []), ...current];
  const byGeneration = new Map(all.map(({ generation, index }) => [generation, { generation, index }]));
  return [...byGeneration.values()].sort((a, b) => a.generation - b.generation);
}

function appearanceDigest(currency: string | null): string {
  return createHash('sha256').update(`${TEMPLATES_DIGEST} ${currency}`).digest('hex').slice(0, 16);
}

/** Removes the unfinished media copies of a killed refresh. */
async function removeParts(folder: ReportFolder): Promise<void> {
  for (const name of await readdir(folder.path('media'), { recursive: true }).catch(otherwise([])))
    if (isMediaPart(name)) await folder.remove(`media/${name.replaceAll('\\', '/')}`);
}

/** Media paths that depend on other rows. */
export interface MediaPlan {
  /** Pages with media that were renamed because of a row on another page. */
  readonly renamed: readonly number[];
  namesOf(rows: PageRows): ReadonlyMap<string, readonly string[]>;
}

/** Plans media paths. With one folder, names must be unique across the report; with page folders, within each page. */
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
