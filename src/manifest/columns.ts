import { isAbsolute } from 'node:path';
import { type ManifestIssue } from '../domain/campaign/plan';
import { type JsonValue } from '../domain/json';
import { nearNames, unseenDifference } from '../domain/near-names';
import { type ArtifactRef, isArtifactRef, sha256OfArtifactUri } from '../domain/request';

/** The operation of a row, as written in a manifest. */
export type ManifestOperation = 'video' | 'image' | 'edit';

export const MANIFEST_OPERATIONS: readonly ManifestOperation[] = ['video', 'image', 'edit'];

interface ManifestColumn {
  readonly name: string;
  readonly aliases: readonly string[];
  /** Operations whose rows may have a value in this column. */
  readonly operations: readonly ManifestOperation[];
  readonly formats: readonly ('csv' | 'jsonl')[];
  /** Whether a column is named `NAME:WIRE_FIELD`: `may` allows it, `always` requires it. */
  readonly suffix: 'none' | 'may' | 'always';
  /** Short description, also used in the documentation. */
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
const SOURCES = `https:// addresses, ${FILES}`;

/**
 * All columns of a manifest. Names are not case-sensitive. In CSV an empty cell is no value; several sources in one
 * cell are separated by `|` (a `|` in an address is written `%7C`).
 */
export const MANIFEST_COLUMNS: readonly ManifestColumn[] = [
  column(
    'id',
    ALL,
    'Name of the row, at most 128 characters, each only once. Without it the content of the row is its name.',
  ),
  column(
    'operation',
    ALL,
    'video, image or edit. Without it what the model makes, or what the columns are of where that is not known; an edit where images are given.',
  ),
  column('model', ALL, 'Public id of the model, exactly as it is written.'),
  column('prompt', ALL, 'What is to be seen or changed.'),
  column('duration', ['video'], 'Whole seconds.', { aliases: ['seconds', 'durationSeconds'] }),
  column('resolution', ['video'], 'For example 720p.'),
  column('aspect_ratio', ['video'], 'For example 16:9.', { aliases: ['aspectRatio'] }),
  column('image_reference', ['video'], `Reference images: ${SOURCES}.`, { suffix: 'may' }),
  column('video_reference', ['video'], `Reference videos: ${SOURCES}.`, { suffix: 'may' }),
  column('audio_reference', ['video'], `Reference sounds: ${SOURCES}.`, { suffix: 'may' }),
  column(
    'references',
    ['video'],
    'List of {kind, source, field}; a source as text, or url, artifact, file.',
    { formats: ['jsonl'] },
  ),
  column('size', STILLS, 'WIDTHxHEIGHT with a lowercase x, or auto.'),
  column('quality', STILLS, 'A quality of the model.'),
  column('n', STILLS, 'Number of results, at least 1.'),
  column('response_format', STILLS, 'url or b64_json.', { aliases: ['responseFormat'] }),
  column('images', ['edit'], `Images to edit, in their order: ${FILES}; no address.`, {
    aliases: ['image'],
  }),
  column('mask', ['edit'], 'Mask of the edit, as one of images.'),
  column('account', ALL, 'Name of the credential. Without it that of the campaign.'),
  column('field', ALL, 'field:NAME is a field that only this model has: JSON, or plain text.', {
    suffix: 'always',
  }),
  column('fields', ALL, 'Object of fields that only this model has.', {
    aliases: ['raw'],
    formats: ['jsonl'],
  }),
];

export interface NamedColumn {
  readonly column: ManifestColumn;
  /** Wire field after the colon. */
  readonly suffix?: string;
  /** Identifies the column; a row may have only one value for a key. */
  readonly key: string;
}

const BY_NAME = new Map(
  MANIFEST_COLUMNS.flatMap((one) => [one.name, ...one.aliases].map((name) => [name.toLowerCase(), one])),
);

/** Names of wire fields; does not match a sentence that was put there by mistake. */
export const FIELD_NAME = /^[^\s|]{1,64}$/;
/** A column name that may be shown. In a file without a header, the first prompt is read as a column name. */
const WORD = /^[A-Za-z_][\w.:-]{0,39}$/;

/** A column whose name begins with this belongs to the author of the manifest and is not read. */
const OWN = '_';

export const isOwnColumn = (written: string): boolean => written.trim().startsWith(OWN);

/**
 * The column that a header cell or a key names, or the issue with a name that no column has. In CSV the header is then
 * refused and no row is read; in JSON lines only that row is invalid.
 * @param position number of the header cell, from 1, which is shown where the name itself may be private text
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
    const perhaps = allowed.length === 1 ? `; perhaps ${allowed[0]}` : '';
    const place = shown === null && position !== undefined ? ` (column ${position})` : '';
    const own = `A column of your own is kept and not read when its name begins with ${OWN}${shown === null ? '' : `: ${OWN}${shown}`}.`;
    const unseen = unseenDifference(base, [...BY_NAME.keys()]);
    const message = `There is no such column${perhaps}.${place}${unseen} ${own}`;
    return { line, column: shown, message, allowed };
  }
  return {
    column,
    key: suffix === undefined ? column.name : `${column.name}:${suffix}`,
    ...(suffix !== undefined && { suffix }),
  };
}

/** The nearest known column, by its main name instead of an alias; all columns when none is near. */
function nearColumns(name: string, known: readonly string[], format: 'csv' | 'jsonl'): string[] {
  const names = [...BY_NAME].filter(([, one]) => one.formats.includes(format) && one.suffix !== 'always');
  const aliases = names.map(([alias]) => alias);
  const near = nearNames(name, aliases, 1).map((alias) => BY_NAME.get(alias)?.name ?? alias);
  return near.length > 0 ? near : [...known];
}

export interface ManifestValue extends NamedColumn {
  /** The column name as written in the manifest. */
  readonly written: string;
  /** Text from CSV, any JSON from JSON lines; never empty. */
  readonly value: JsonValue;
}

/** One row of the manifest, not yet validated. */
export interface ManifestRow {
  /** From 1. */
  readonly line: number;
  /** By {@link NamedColumn.key}. */
  readonly values: ReadonlyMap<string, ManifestValue>;
  /** Issues of its form. */
  readonly issues: readonly ManifestIssue[];
}

/** One or several values: a list, or a text with `|` between them. */
export function severalOf(value: JsonValue): readonly JsonValue[] {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'string') return [value];
  return value
    .split('|')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}

/** A source as written in a manifest; not resolved yet. */
export type WrittenSource =
  | { readonly url: string }
  | { readonly sha256: string }
  | { readonly artifact: ArtifactRef }
  | { readonly file: string };

export const SOURCE_FORMS: readonly string[] = ['https://…', 'artifact:sha256/HASH', 'file:PATH'];

/** Reads a text, or an object with one of url, artifact and file; undefined for anything else. */
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

/** Accepts only paths below the folder of the manifest: no root, no drive, no `..`. */
function readFile(path: string): WrittenSource | undefined {
  const steps = path.split(/[\\/]/);
  const outside = isAbsolute(path) || /^([a-z]:|[\\/]|~)/i.test(path) || steps.includes('..');
  // eslint-disable-next-line no-control-regex
  return path === '' || outside || /[\0-\x1f]/.test(path) ? undefined : { file: path };
}
