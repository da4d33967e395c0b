import { type CampaignRowResult, type MoneyTotals } from 'temporal-media';
import { moneyOfAttempts } from 'temporal-media/internal/domain/campaign/row-result';
import { parseJson, type ReportFolder, STATE_FOLDER } from './report-folder';

/** A line in `results.jsonl`, without the prompt and the service's messages, which may repeat the prompt. */
export interface ResultRecord extends Omit<CampaignRowResult, 'artifacts' | 'message' | 'page' | 'index'> {
  /** Number of attempts across all plans, including those proved to cost nothing. */
  readonly attempts: number;
  /** The row's files, in the order of its results. */
  readonly files: readonly ResultFile[];
  /** Micro-units of `currency`, summed over all attempts. */
  readonly money: MoneyTotals & { readonly currency: string | null };
}

export interface ResultFile {
  /** Relative to the folder, with slashes; null if the store did not have the file. */
  readonly path: string | null;
  readonly sha256: string;
  readonly bytes: number;
  readonly mediaType: string;
}

export function resultRecord({ result, files }: ReportRow, currency: string | null): ResultRecord {
  const { artifacts, message: _words, page: _page, index: _index, ...facts } = result;
  return {
    ...facts,
    attempts: result.ledger.length,
    files: artifacts.map(({ sha256, bytes, mediaType }, index) => ({
      path: files?.[index] ?? null,
      sha256,
      bytes,
      mediaType,
    })),
    money: { currency, ...moneyOfAttempts(result.ledger) },
  };
}

/** Number of cards on a gallery page. Page N begins at manifest row N * 200. */
export const PAGE_CARDS = 200;

/** A result with its files in the report. */
export interface ReportRow {
  readonly result: CampaignRowResult;
  /** Relative paths of the result's media, in the order of its artifacts; null for media that the store lacked. */
  readonly files?: readonly (string | null)[];
  /** Media already fetched for results that this result replaced. They are moved if the new media need their paths. */
  readonly replaced?: readonly ReplacedFile[];
}

export interface ReplacedFile {
  readonly path: string;
  readonly sha256: string;
}

/** A page's latest rows, by key. */
export type PageRows = Map<string, ReportRow>;

export function pageOf({ row }: { readonly row: number }): number {
  return Math.floor(row / PAGE_CARDS);
}

/** Returns `0001` for page 0. */
export function pageNumber(page: number): string {
  return String(page + 1).padStart(4, '0');
}

const place = (page: number): string => `${STATE_FOLDER}/pages/${pageNumber(page)}.jsonl`;

export async function readPage(folder: ReportFolder, page: number): Promise<PageRows> {
  const text = await folder.read(place(page));
  const rows: PageRows = new Map();
  for (const line of (text ?? '').split('\n')) {
    if (line === '') continue;
    const row = parseJson<ReportRow>(line);
    rows.set(row.result.key, row);
  }
  return rows;
}

/** @returns false if nothing changed */
export async function writePage(folder: ReportFolder, page: number, rows: PageRows): Promise<boolean> {
  return folder.write(
    place(page),
    inOrder(rows)
      .map((row) => `${JSON.stringify(row)}\n`)
      .join(''),
  );
}

/** Sorts rows by their index in the manifest. Two keys have the same index only after the manifest was reordered. */
export function inOrder(rows: PageRows): ReportRow[] {
  return [...rows.values()].sort(
    ({ result: a }, { result: b }) => a.row - b.row || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0),
  );
}

/** Returns the pages with rows in the folder, in order. Does not depend on the state file. */
export async function pagesOnDisk(folder: ReportFolder): Promise<number[]> {
  const names = await folder.list(`${STATE_FOLDER}/pages`);
  return names
    .flatMap((name) => /^([0-9]{4,12})\.jsonl$/.exec(name)?.[1] ?? [])
    .map((number) => Number(number) - 1)
    .sort((a, b) => a - b);
}
