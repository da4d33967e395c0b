import { stringify } from 'csv-stringify/sync';
import { CSV_HEADER, csvCells } from './csv-columns';
import { inOrder, readPage } from './page-rows';
import { type ReportFolder } from './report-folder';
import { resultRecord, type ResultRecord } from './result-record';

/** Names of the tables of a report. */
export const TABLES = { jsonl: 'results.jsonl', csv: 'results.csv' } as const;

/** Writes both tables, page by page in the order of the manifest: complete under their names or not at all. */
export async function writeTables(
  folder: ReportFolder,
  pages: readonly number[],
  currency: string | null,
): Promise<void> {
  await folder.stream(TABLES.jsonl, jsonLines(folder, pages, currency));
  await folder.stream(TABLES.csv, csvLines(folder, pages, currency));
}

async function* records(
  folder: ReportFolder,
  pages: readonly number[],
  currency: string | null,
): AsyncGenerator<ResultRecord[]> {
  for (const page of pages)
    yield inOrder(await readPage(folder, page)).map((row) => resultRecord(row, currency));
}

async function* jsonLines(
  ...source: [ReportFolder, readonly number[], string | null]
): AsyncGenerator<string> {
  for await (const page of records(...source))
    yield page.map((record) => `${JSON.stringify(record)}\n`).join('');
}

async function* csvLines(
  ...source: [ReportFolder, readonly number[], string | null]
): AsyncGenerator<string> {
  yield stringify([CSV_HEADER]);
  for await (const page of records(...source)) yield stringify(page.map(csvCells));
}
