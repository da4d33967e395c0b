import { type FileHandle, open, stat } from 'node:fs/promises';
import { stringify } from 'csv-stringify/sync';
import { systemCode } from '../artifacts/artifact-store';
import { CSV_HEADER, csvCells } from './csv-columns';
import { inOrder, readPage } from './page-rows';
import { type ReportFolder } from './report-folder';
import { resultRecord, type ResultRecord } from './result-record';

/** The tables of a report: how each begins, and what a page of rows comes to in it. */
const TABLES: { readonly [name: string]: Table } = {
  'results.jsonl': {
    head: '',
    rows: (records) => records.map((record) => `${JSON.stringify(record)}\n`).join(''),
  },
  'results.csv': {
    head: stringify([CSV_HEADER]),
    rows: (records) => stringify(records.map(csvCells)),
  },
};

interface Table {
  readonly head: string;
  readonly rows: (records: readonly ResultRecord[]) => string;
}

/** What a table looked like when it was written: pages that did not change are copied out of it. */
export interface TableState {
  readonly size: number;
  readonly mtimeMs: number;
  /** Bytes of each page, in order. */
  readonly pages: readonly (readonly [page: number, bytes: number])[];
}

export type TablesState = { readonly [name: string]: TableState };

export interface TablesOptions {
  readonly folder: ReportFolder;
  /** All pages, in order. */
  readonly pages: readonly number[];
  readonly changed: ReadonlySet<number>;
  readonly currency: string | null;
}

/**
 * Writes the tables, page by page in the order of the manifest: complete under their names or not at all. One that is
 * as it was left, with all pages as they were, is not touched.
 */
export async function writeTables(options: TablesOptions, before: TablesState): Promise<TablesState> {
  const after: { [name: string]: TableState } = {};
  for (const [name, table] of Object.entries(TABLES))
    after[name] = await writeTable(options, name, table, before[name]);
  return after;
}

async function writeTable(
  options: TablesOptions,
  name: string,
  table: Table,
  before: TableState | undefined,
): Promise<TableState> {
  const { folder, pages, changed } = options;
  const path = folder.path(name);
  const old = before !== undefined && (await isAsLeft(path, before)) ? before : undefined;
  if (old !== undefined && changed.size === 0) return old;
  const handle = old === undefined ? undefined : await open(path, 'r');
  try {
    const places = placesOf(old, table);
    const sizes: [number, number][] = [];
    await folder.stream(name, pieces());
    const { size, mtimeMs } = await stat(path);
    return { size, mtimeMs, pages: sizes };

    async function* pieces(): AsyncGenerator<string | Uint8Array> {
      yield table.head;
      for (const page of pages) {
        const place = changed.has(page) ? undefined : places.get(page);
        const piece =
          place === undefined || handle === undefined
            ? Buffer.from(await rowsText(options, table, page))
            : await readPlace(handle, place);
        sizes.push([page, piece.length]);
        yield piece;
      }
    }
  } finally {
    await handle?.close();
  }
}

async function rowsText({ folder, currency }: TablesOptions, table: Table, page: number): Promise<string> {
  return table.rows(inOrder(await readPage(folder, page)).map((row) => resultRecord(row, currency)));
}

type Place = readonly [start: number, bytes: number];

function placesOf(old: TableState | undefined, { head }: Table): ReadonlyMap<number, Place> {
  const places = new Map<number, Place>();
  let start = Buffer.byteLength(head);
  for (const [page, bytes] of old?.pages ?? []) {
    places.set(page, [start, bytes]);
    start += bytes;
  }
  return places;
}

async function readPlace(handle: FileHandle, [start, bytes]: Place): Promise<Uint8Array> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, start);
  if (bytesRead !== bytes) throw new Error('A table changed while it was read.');
  return buffer;
}

/** A table that somebody saved in a spreadsheet is made anew as a whole. */
async function isAsLeft(path: string, { size, mtimeMs }: TableState): Promise<boolean> {
  try {
    const now = await stat(path);
    return now.size === size && now.mtimeMs === mtimeMs;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw error;
  }
}
