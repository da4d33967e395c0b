import { type JsonValue } from '../../domain/json';
import { type ArtifactRef } from '../../domain/media';
import { columnOf } from '../../manifest/columns';
import { ManifestHeaderError, ManifestUnreadableError } from '../../manifest/manifest-text';
import { type ManifestRow, type ManifestValue } from '../../manifest/manifest-row';
import { readManifest } from '../../manifest/read-manifest';
import { severalOf } from '../../manifest/row-values';
import { readSource } from '../../manifest/sources';

/** Columns that name sources. */
const SOURCES: ReadonlySet<string> = new Set([
  'image_reference',
  'video_reference',
  'audio_reference',
  'references',
  'images',
  'mask',
]);

type FindFile = (path: string) => Promise<ArtifactRef | undefined>;

/** Whether a row names a file. What cannot be read to its end names none: the plan says what is wrong with it. */
export async function namesFiles(
  bytes: AsyncIterable<Uint8Array>,
  format?: 'csv' | 'jsonl',
): Promise<boolean> {
  try {
    for await (const { values } of readManifest(bytes, format))
      for (const value of values.values())
        if (SOURCES.has(value.column.name) && severalOf(value.value).some(isFile)) return true;
    return false;
  } catch (error) {
    if (error instanceof ManifestHeaderError || error instanceof ManifestUnreadableError) return false;
    throw error;
  }
}

/**
 * The manifest as JSON lines in which stored files stand for those that rows name: what a worker on another machine can
 * read. Every row stays on its line, so that messages and results name the lines of the user's own file. A row that is
 * not right in its form stays wrong.
 */
export async function* canonicalManifest(
  bytes: AsyncIterable<Uint8Array>,
  find: FindFile,
  format?: 'csv' | 'jsonl',
): AsyncGenerator<Uint8Array> {
  let line = 1;
  for await (const row of readManifest(bytes, format)) {
    const text = JSON.stringify(await withArtifacts(row, find));
    yield Buffer.from(`${'\n'.repeat(row.line - line)}${text}\n`);
    line = row.line + 1;
  }
}

async function withArtifacts(
  { values, issues }: ManifestRow,
  find: FindFile,
): Promise<{ [name: string]: JsonValue }> {
  const object: { [name: string]: JsonValue } = {};
  for (const value of values.values())
    object[value.written] = SOURCES.has(value.column.name) ? await storedSources(value, find) : value.value;
  for (const { column } of issues) spoil(object, column);
  return object;
}

/** Makes the row wrong again in the same column: a name that is none, or one that is there twice. */
function spoil(object: { [name: string]: JsonValue }, column: string | null): void {
  if (column === null) object['?'] = true;
  else if (!('column' in columnOf(column, 'jsonl'))) object[column] = true;
  else {
    object[column] ??= true;
    // Names are read without regard to case.
    const [first = ''] = column;
    const other = first === first.toUpperCase() ? first.toLowerCase() : first.toUpperCase();
    object[`${other}${column.slice(1)}`] ??= true;
  }
}

async function storedSources(value: ManifestValue, find: FindFile): Promise<JsonValue> {
  const sources = severalOf(value.value);
  if (!sources.some(isFile)) return value.value;
  const stored = await Promise.all(sources.map((source) => storedSource(source, find)));
  const [only] = stored;
  // A list stays a list; a single object is one source.
  return stored.length === 1 && only !== undefined && !Array.isArray(value.value) ? only : stored;
}

async function storedSource(source: JsonValue, find: FindFile): Promise<JsonValue> {
  const read = readSource(fieldsOfSource(source));
  if (read === undefined || !('file' in read)) return source;
  const artifact = await find(read.file);
  if (artifact === undefined) return source;
  const { kind, field } = isObject(source) ? source : {};
  return {
    ...(kind !== undefined && { kind }),
    ...(field !== undefined && { field }),
    artifact: { ...artifact },
  };
}

function isFile(source: JsonValue): boolean {
  const read = readSource(fieldsOfSource(source));
  return read !== undefined && 'file' in read;
}

/** Without what a list of references says beside the source. */
function fieldsOfSource(source: JsonValue): JsonValue {
  if (!isObject(source)) return source;
  const { kind: _kind, field: _field, ...rest } = source;
  return rest;
}

function isObject(value: JsonValue): value is { readonly [name: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
