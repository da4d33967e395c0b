import { type JsonValue } from '../domain/json';
import { type MediaSource, type ReferenceKind, type VideoReference } from '../domain/media';
import { findSource, readSource, SOURCE_FORMS, type SourceLookup } from './sources';
import { type RowValues } from './row-values';

const KINDS: readonly ReferenceKind[] = ['image', 'video', 'audio'];
const NO_SOURCE =
  'This is no source: an address, an artifact, or a file below the place of the manifest is one.';

/** All references of a row, in the order of its columns. */
export async function readReferences(values: RowValues, lookup: SourceLookup): Promise<VideoReference[]> {
  const references: VideoReference[] = [];
  for (const { column, key, suffix } of values.all()) {
    const kind = KINDS.find((one) => `${one}_reference` === column.name);
    if (column.name === 'references') references.push(...(await readList(values, lookup)));
    if (kind === undefined) continue;
    for (const written of values.several(key)) {
      const source = await sourceOf(values, key, written, kind, lookup);
      if (source !== undefined)
        references.push({ kind, source, ...(suffix !== undefined && { field: suffix }) });
    }
  }
  return references;
}

async function readList(values: RowValues, lookup: SourceLookup): Promise<VideoReference[]> {
  const list = values.get('references')?.value;
  if (!Array.isArray(list)) {
    values.issue('references', 'references must be a list of {kind, source, field}.');
    return [];
  }
  const references: VideoReference[] = [];
  for (const item of list) {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) {
      values.issue('references', 'A reference is an object {kind, source, field}.');
      continue;
    }
    const { kind, field, ...written } = item;
    const known = KINDS.find((one) => one === kind);
    if (known === undefined) values.issue('references', 'The kind of a reference is one of these.', KINDS);
    else if (field !== undefined && typeof field !== 'string')
      values.issue('references', 'The field of a reference must be a text.');
    else {
      const source = await sourceOf(values, 'references', written, known, lookup);
      if (source !== undefined)
        references.push({ kind: known, source, ...(field !== undefined && { field }) });
    }
  }
  return references;
}

/** Images or the mask of an edit. */
export async function readImages(
  values: RowValues,
  key: 'images' | 'mask',
  lookup: SourceLookup,
): Promise<MediaSource[]> {
  const images: MediaSource[] = [];
  for (const written of values.several(key)) {
    const source = await sourceOf(values, key, written, 'image', lookup);
    if (source === undefined) continue;
    if ('url' in source)
      values.issue(key, 'An edit takes files: an artifact or a file, not an address.', SOURCE_FORMS.slice(1));
    else images.push(source);
  }
  return images;
}

async function sourceOf(
  values: RowValues,
  key: string,
  written: JsonValue,
  kind: ReferenceKind,
  lookup: SourceLookup,
): Promise<MediaSource | undefined> {
  const read = readSource(written);
  if (read === undefined) {
    values.issue(key, NO_SOURCE, SOURCE_FORMS);
    return undefined;
  }
  const found = await findSource(read, kind, lookup);
  if ('source' in found) return found.source;
  values.issue(key, found.message);
  return undefined;
}
