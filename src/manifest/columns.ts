import { isAbsolute } from 'node:path';
import { type ManifestIssue } from '../domain/campaign/plan';
import { type JsonValue } from '../domain/json';
import { nearNames, unseenDifference } from '../domain/near-names';
import { type ArtifactRef, isArtifactRef, sha256OfArtifactUri } from '../domain/request';

/** A row's operation, as written in a manifest. */
export type ManifestOperation = 'video' | 'image' | 'edit';

export const MANIFEST_OPERATIONS: readonly ManifestOperation[] = ['video', 'image', 'edit'];

interface ManifestColumn {
  readonly name: string;
  readonly aliases: readonly string[];
  /** Operations whose rows can have a value in this column. */
  readonly operations: readonly ManifestOperation[];
  readonly formats: readonly ('csv' | 'jsonl')[];
  /** Whether the column name has the form `NAME:WIRE_FIELD`: `may` allows it, `always` requires it. */
  readonly suffix: 'none' | 'may' | 'always';
  /** Short description, which the documentation also uses. */
  readonly about: string;
}

const ALL = MANIFEST_OPERATIONS;
const STILLS: readonly ManifestOperation[] = ['image', 'edit'];

function column(
  name: string,
  operations: readonly ManifestOperation[],
  about: string,
  rest: Partial<ManifestColumn> = {},
): ManifestColumn {
  return { name, aliases: [], operations, formats: ['csv', 'jsonl'], suffix: 'none', about, ...rest };
}

const FILES = 'artifact:sha256/HASH of a stored file, or file:PATH relative to the manifest';
const SOURCES = `https:// URLs, ${FILES}`;

/**
 * All manifest columns. Names are case-insensitive. In CSV, an empty cell means no value, and `|` separates several
 * sources in one cell (write `%7C` for a `|` in a URL).
 */
export const MANIFEST_COLUMNS: readonly ManifestColumn[] = [
  column(
    'id',
    ALL,
    "Unique name of the row, at most 128 characters. Default: derived from the row's content.",
  ),
  column(
    'operation',
    ALL,
    'video, image or edit. Default: edit if there are images, otherwise what the model makes or, if it is unknown, what the columns indicate.',
  ),
  column('model', ALL, 'Public model ID, exactly as the service defines it.'),
  column('prompt', ALL, 'What to show or change.'),
  column('duration', ['video'], 'Duration in whole seconds.', { aliases: ['seconds', 'durationSeconds'] }),
  column('resolution', ['video'], 'For example, 720p.'),
  column('aspect_ratio', ['video'], 'For example, 16:9.', { aliases: ['aspectRatio'] }),
  column('image_reference', ['video'], `Reference images: ${SOURCES}.`, { suffix: 'may' }),
  column('video_reference', ['video'], `Reference videos: ${SOURCES}.`, { suffix: 'may' }),
  column('audio_reference', ['video'], `Reference audio: ${SOURCES}.`, { suffix: 'may' }),
  column(
    'references',
    ['video'],
    'List of {kind, source, field}. A source is a string or an object with url, artifact or file.',
    { formats: ['jsonl'] },
  ),
  column('size', STILLS, 'WIDTHxHEIGHT with a lowercase x, or auto.'),
  column('quality', STILLS, "One of the model's quality levels."),
  column('n', STILLS, 'Number of results, at least 1.'),
  column('response_format', STILLS, 'url or b64_json.', { aliases: ['responseFormat'] }),
  column('images', ['edit'], `Images to edit, in order: ${FILES}. Not a URL.`, {
    aliases: ['image'],
  }),
  column('mask', ['edit'], 'Mask for the edit, in the same format as images.'),
  column('account', ALL, "Name of the credential. Default: the campaign's account."),
  column('label', ALL, 'A label, such as the tenant that the row is for.', {
    suffix: 'always',
  }),
  column('field', ALL, 'field:NAME sets a model-specific field, as JSON or plain text.', {
    suffix: 'always',
  }),
  column('fields', ALL, 'Object with model-specific fields.', {
    aliases: ['raw'],
    formats: ['jsonl'],
  }),
];

export interface NamedColumn {
  readonly column: ManifestColumn;
  /** The wire field after the colon. */
  readonly suffix?: string;
  /** Identifies the column. A row can have only one value per key. */
  readonly key: string;
}

const BY_NAME = new Map(
  MANIFEST_COLUMNS.flatMap((one) => [one.name, ...one.aliases].map((name) => [name.toLowerCase(), one])),
);

/** Matches names of wire fields, but not a sentence that ended up there by mistake. */
export const FIELD_NAME = /^[^\s|]{1,64}$/;
/** Column names that may be shown. In a file without a header, the first prompt would be mistaken for a column name. */
const WORD = /^[A-Za-z_][\w.:-]{0,39}$/;

/** Columns whose names start with this prefix are for the manifest's author and are ignored. */
const OWN = '_';

export const isOwnColumn = (written: string): boolean => written.trim().startsWith(OWN);

/**
 * Finds the column for a header cell or a key, or returns an issue for an unknown name. In CSV, the issue makes the
 * whole header invalid; in JSON Lines, only that row.
 * @param position the header cell's number, from 1, which is shown if the name itself might be private text
 */
export function columnOf(
  written: string,
  format: 'csv' | 'jsonl',
  line: number,
  position?: number,
): NamedColumn | ManifestIssue {
  const name = written.trim();
  const colon = name.indexOf(':');
  const base = (colon < 0 ? name : name.slice(0, colon)).trim().toLowerCase();
  const suffix = colon < 0 ? undefined : name.slice(colon + 1).trim();
  const column = BY_NAME.get(base);
  const fits =
    column?.formats.includes(format) === true &&
    (suffix === undefined ? column.suffix !== 'always' : column.suffix !== 'none' && FIELD_NAME.test(suffix));
  if (column === undefined || !fits) {
    const known = MANIFEST_COLUMNS.filter((one) => one.formats.includes(format)).map((one) =>
      one.suffix === 'always' ? `${one.name}:NAME` : one.name,
    );
    const allowed = nearColumns(name, known, format);
    const shown = WORD.test(name) ? name : null;
    const perhaps = allowed.length === 1 ? `. Did you mean ${allowed[0]}?` : '.';
    const place = shown === null && position !== undefined ? ` (column ${position})` : '';
    const own = `To keep your own column, which is ignored, start its name with ${OWN}${shown === null ? '' : `: ${OWN}${shown}`}.`;
    const unseen = unseenDifference(base, [...BY_NAME.keys()]);
    const message = `Unknown column${perhaps}${place}${unseen} ${own}`;
    return { line, column: shown, message, allowed };
  }
  return {
    column,
    key: suffix === undefined ? column.name : `${column.name}:${suffix}`,
    ...(suffix !== undefined && { suffix }),
  };
}

/** The main name of the most similar known column, or all columns if none is similar. */
function nearColumns(name: string, known: readonly string[], format: 'csv' | 'jsonl'): string[] {
  const names = [...BY_NAME].filter(([, one]) => one.formats.includes(format) && one.suffix !== 'always');
  const aliases = names.map(([alias]) => alias);
  const near = nearNames(name, aliases, 1).map((alias) => BY_NAME.get(alias)?.name ?? alias);
  return near.length > 0 ? near : [...known];
}

export interface ManifestValue extends NamedColumn {
  /** The column name as written in the manifest. */
  readonly written: string;
  /** Text from CSV, or any JSON value from JSON Lines. Never empty. */
  readonly value: JsonValue;
}

/** A manifest row that is not validated yet. */
export interface ManifestRow {
  /** The line where the row starts, from 1. */
  readonly line: number;
  /** The values, keyed by {@link NamedColumn.key}. */
  readonly values: ReadonlyMap<string, ManifestValue>;
  /** Issues with how the row is written. */
  readonly issues: readonly ManifestIssue[];
}

/** Returns the values of a list, or of text separated by `|`. */
export function severalOf(value: JsonValue): readonly JsonValue[] {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'string') return [value];
  return value
    .split('|')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}

/** A source as written in a manifest, before it is resolved. */
export type WrittenSource =
  | { readonly url: string }
  | { readonly sha256: string }
  | { readonly artifact: ArtifactRef }
  | { readonly file: string };

export const SOURCE_FORMS: readonly string[] = ['https://…', 'artifact:sha256/HASH', 'file:PATH'];

/** Reads a source from a string or from an object with url, artifact or file. Undefined for anything else. */
export function readSource(value: JsonValue | undefined): WrittenSource | undefined {
  if (typeof value === 'string') return readText(value.trim());
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const { url, artifact, file, source, ...others } = value;
  const given = [url, artifact, file, source].filter((one) => one !== undefined);
  if (given.length !== 1 || Object.keys(others).length > 0) return undefined;
  if (typeof url === 'string') return isUrl(url) ? { url } : undefined;
  if (typeof file === 'string') return readFile(file.replace(/^file:/i, ''));
  if (isArtifactRef(artifact)) return { artifact };
  return typeof artifact === 'string' ? readArtifact(artifact) : readSource(source);
}

function readText(text: string): WrittenSource | undefined {
  if (isUrl(text)) return { url: text };
  if (/^file:/i.test(text)) return readFile(text.slice('file:'.length));
  return readArtifact(text);
}

const isUrl = (text: string): boolean => /^(https?:\/\/[^/\s]+|data:)/i.test(text) && !/\s/.test(text);

function readArtifact(uri: string): WrittenSource | undefined {
  const sha256 = sha256OfArtifactUri(uri);
  return sha256 === undefined ? undefined : { sha256 };
}

/** Accepts only paths below the manifest's folder, without a root, a drive or `..`. */
function readFile(path: string): WrittenSource | undefined {
  const steps = path.split(/[\\/]/);
  const outside = isAbsolute(path) || /^([a-z]:|[\\/]|~)/i.test(path) || steps.includes('..');
  // eslint-disable-next-line no-control-regex
  return path === '' || outside || /[\0-\x1f]/.test(path) ? undefined : { file: path };
}
