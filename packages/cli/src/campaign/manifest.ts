import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve, sep } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ArtifactRef, type JsonValue } from 'temporal-media';
import { otherwise, throwBug } from 'temporal-media/internal/domain/bug';
import { given } from 'temporal-media/internal/domain/json';
import { sha256OfArtifactUri } from 'temporal-media/internal/domain/request';
import {
  columnOf,
  type ManifestRow,
  type ManifestValue,
  severalOf,
  readSource,
} from 'temporal-media/internal/manifest/columns';
import { ManifestHeaderError, ManifestUnreadableError } from 'temporal-media/internal/manifest/manifest-text';
import { readManifest } from 'temporal-media/internal/manifest/read-manifest';
import { getterWithoutCredentials, type PlainReply } from 'temporal-media/internal/service/connections';
import { ArtifactError } from 'temporal-media/internal/stores/artifacts/artifact-store';
import { ingestFile } from 'temporal-media/internal/stores/artifacts/user-files';
import { systemCode } from 'temporal-media/internal/stores/files/system-errors';
import { type ArtifactStore } from 'temporal-media/stores';
import { CliError } from '../shared/errors';

/**
 * Downloads a manifest. The worker never requests the URL again, so the campaign that starts is exactly the one that
 * was validated and confirmed. Messages omit the URL, which may be signed. @throws Error with a human-readable reason
 */
async function fetchManifest(address: string, env = process.env): Promise<Readable> {
  let reply: PlainReply;
  try {
    reply = await getterWithoutCredentials(env)(address);
  } catch (error) {
    throwBug(error);
    throw new Error('its URL does not respond.');
  }
  if ('body' in reply) return Readable.fromWeb(reply.body);
  throw new Error(
    reply.refused === 'downgraded'
      ? 'its URL redirects from https to http.'
      : `its URL returned HTTP ${reply.status}.`,
  );
}

/** Columns whose values are sources. */
const SOURCES: ReadonlySet<string> = new Set([
  'image_reference',
  'video_reference',
  'audio_reference',
  'references',
  'images',
  'mask',
]);

type FindFile = (path: string) => Promise<ArtifactRef | undefined>;

/** Whether any row refers to a local file. False for an unreadable manifest, which the plan reports as an error. */
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
 * Rewrites the manifest as a JSON list that points to stored files instead of local ones, so that a worker on another
 * machine can read them. Every row keeps its line number, so messages and results refer to lines in the user's own
 * file. Several rows in a list can have the same line number. A malformed row stays malformed.
 */
export async function* canonicalManifest(
  bytes: AsyncIterable<Uint8Array>,
  find: FindFile,
  format?: 'csv' | 'jsonl',
): AsyncGenerator<Uint8Array> {
  let line = 1;
  let before = '[';
  for await (const row of readManifest(bytes, format)) {
    const text = JSON.stringify(await withArtifacts(row, find));
    yield Buffer.from(`${before}${'\n'.repeat(row.line - line)}${text}`);
    line = row.line;
    before = ',';
  }
  yield Buffer.from(before === '[' ? '[]\n' : ']\n');
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

/** Makes the row invalid in the same column as before, by adding an unknown or repeated column name. */
function spoil(object: { [name: string]: JsonValue }, column: string | null): void {
  if (column === null) object['?'] = true;
  else if ('message' in columnOf(column, 'jsonl', 0)) object[column] = true;
  else {
    object[column] ??= true;
    // Column names are case-insensitive.
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
  return { ...given({ kind, field }), artifact: { ...artifact } };
}

function isFile(source: JsonValue): boolean {
  const read = readSource(fieldsOfSource(source));
  return read !== undefined && 'file' in read;
}

/** Keeps only the reference fields that identify its source. */
function fieldsOfSource(source: JsonValue): JsonValue {
  if (!isObject(source)) return source;
  const { kind: _kind, field: _field, ...rest } = source;
  return rest;
}

function isObject(value: JsonValue): value is { readonly [name: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A manifest that can be read several times. */
export interface ManifestInput {
  readonly open: () => Promise<AsyncIterable<Uint8Array>>;
  /** Folder that must contain the local files that rows refer to. Null if rows must not refer to local files. */
  readonly folder: string | null;
  /** The manifest's artifact if it is already in the store, or null. */
  readonly artifact: ArtifactRef | null;
  /** Removes the temporary copy, if any. */
  dispose(): Promise<void>;
}

/**
 * Opens MANIFEST: a file, `-`, a URL or an artifact. Input that can be read only once is copied to a temporary file.
 * Rows of a fetched or stored manifest must not refer to files on this machine. @throws CliError `manifest_unreadable`
 */
export async function openManifest(
  argument: string,
  store: Pick<ArtifactStore, 'has' | 'read'>,
): Promise<ManifestInput> {
  if (argument === '-') return spooled(process.stdin, process.cwd());
  if (/^https?:\/\//i.test(argument)) {
    const fetched = await fetchManifest(argument).catch((error: Error) => {
      throw unreadable(error.message);
    });
    return spooled(fetched, null);
  }
  const sha256 = sha256OfArtifactUri(argument);
  if (sha256 !== undefined) return storedManifest(argument, sha256, store);
  const file = resolve(argument);
  const facts = await stat(file).catch((error: unknown) => {
    const code = systemCode(error);
    throw unreadable(code === 'ENOENT' ? `the file ${argument} does not exist.` : `${argument}: ${code}.`);
  });
  if (facts.isDirectory()) throw unreadable(`${argument} is a folder.`);
  if (!facts.isFile()) return spooled(createReadStream(file), process.cwd());
  return {
    open: async () => createReadStream(file) as AsyncIterable<Uint8Array>,
    folder: dirname(file),
    artifact: null,
    dispose: async () => undefined,
  };
}

export function unreadable(message: string): CliError {
  return new CliError('manifest_unreadable', `The manifest cannot be read: ${message}`);
}

async function storedManifest(
  uri: string,
  sha256: string,
  store: Pick<ArtifactStore, 'has' | 'read'>,
): Promise<ManifestInput> {
  const bytes = await store.has(sha256);
  if (bytes === null) throw unreadable('the artifact store that this command uses does not contain it.');
  return {
    open: async () => (await store.read({ sha256 })) as AsyncIterable<Uint8Array>,
    folder: null,
    artifact: { uri, mediaType: 'application/octet-stream', bytes, sha256 },
    dispose: async () => undefined,
  };
}

async function spooled(source: Readable, folder: string | null): Promise<ManifestInput> {
  const directory = await mkdtemp(join(tmpdir(), 'temporal-media-manifest-'));
  const file = join(directory, 'manifest');
  const dispose = () => rm(directory, { recursive: true, force: true });
  try {
    await pipeline(source, createWriteStream(file, { mode: 0o600 }));
  } catch (error) {
    await dispose();
    throw unreadable(`it ended early (${systemCode(error)}).`);
  }
  return {
    open: async () => createReadStream(file) as AsyncIterable<Uint8Array>,
    folder,
    artifact: null,
    dispose,
  };
}

/** Error codes caused by the file rather than the store. */
const OF_THE_FILE: ReadonlySet<string> = new Set(['not_media', 'not_readable', 'too_large']);

/**
 * Stores local files from the rows as artifacts. Accepts only media files that are below the manifest's folder after
 * links are resolved: a manifest from someone else must not send arbitrary files from this machine to the service.
 */
export class LocalFiles {
  readonly #known = new Map<string, Promise<ArtifactRef | undefined>>();

  constructor(
    private readonly folder: string | null,
    private readonly store: Pick<ArtifactStore, 'putStream'>,
  ) {}

  /** Returns undefined if the file is missing, elsewhere or not media. @throws ArtifactError when the store fails */
  find(path: string): Promise<ArtifactRef | undefined> {
    const known = this.#known.get(path);
    if (known !== undefined) return known;
    const found = this.#read(path);
    this.#known.set(path, found);
    return found;
  }

  async #read(path: string): Promise<ArtifactRef | undefined> {
    if (this.folder === null) return undefined;
    const file = await realPath(join(this.folder, path));
    const folder = await realPath(this.folder);
    if (file === undefined || folder === undefined) return undefined;
    if (!file.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`)) return undefined;
    try {
      return (await ingestFile(this.store, file)).artifact;
    } catch (error) {
      if (error instanceof ArtifactError && OF_THE_FILE.has(error.code)) return undefined;
      throw error;
    }
  }
}

async function realPath(path: string): Promise<string | undefined> {
  return realpath(path).catch(otherwise(undefined));
}
