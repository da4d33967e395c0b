import { given, type JsonValue } from '../domain/json';
import { unseenDifference } from '../domain/near-names';
import {
  type ImageEditRequest,
  type ImageGenerationRequest,
  type MediaSource,
  type PaidRequest,
  REFERENCE_KINDS,
  type ReferenceKind,
  type VideoReference,
  type VideoRequest,
} from '../domain/request';
import { FIELD_NAME, MANIFEST_OPERATIONS, type ManifestOperation, readSource, SOURCE_FORMS } from './columns';
import { jsonOrText, LONGEST_WORD, type RowValues } from './manifest-row';
import { findSource, type ModelKind, type SourceLookup } from './row-lookups';

interface CallLookup extends SourceLookup {
  /** Returns a model's kind in the configuration; undefined for an unknown model. */
  kindOf(model: string): Promise<ModelKind | undefined>;
}

/**
 * Reads a row's paid call; undefined if a value cannot be read. Does not validate it against the model. Never adds a
 * value that is not in the row.
 */
export async function readCall(values: RowValues, lookup: CallLookup): Promise<PaidRequest | undefined> {
  const model = required(values, 'model');
  const prompt = required(values, 'prompt');
  const operation = await readOperation(values, model, lookup);
  if (operation === undefined) return undefined;
  for (const { column, key } of values.all())
    if (!column.operations.includes(operation))
      values.issue(key, `A row for ${NOUN[operation]} cannot have a value for ${key}.`, column.operations);
  const fields = readFields(values);
  const common = { model: model ?? '', prompt: prompt ?? '', ...(fields !== undefined && { fields }) };
  const paid =
    operation === 'video'
      ? await readVideo(values, common, lookup)
      : await readImage(values, operation, common, lookup);
  return values.issues.length === 0 ? paid : undefined;
}

const NOUN = { video: 'a video', image: 'an image', edit: 'an edit' } as const;

type Common = Pick<VideoRequest, 'model' | 'prompt' | 'fields'>;

function required(values: RowValues, key: 'model' | 'prompt'): string | undefined {
  const text = values.exactText(key);
  if (text === undefined || text.trim() === '') {
    if (values.get(key) === undefined || text !== undefined) values.issue(key, `${key} is required.`);
    return undefined;
  }
  if (key === 'model' && text.length > LONGEST_WORD)
    values.issue(key, `model can be at most ${LONGEST_WORD} characters long.`);
  if (text.includes('\0')) values.issue(key, `${key} must not contain NUL characters.`);
  return text;
}

async function readOperation(
  values: RowValues,
  model: string | undefined,
  lookup: CallLookup,
): Promise<ManifestOperation | undefined> {
  const written = values.text('operation')?.toLowerCase();
  if (written !== undefined) {
    const operation = MANIFEST_OPERATIONS.find((one) => one === written);
    if (operation === undefined)
      values.issue(
        'operation',
        `operation must be one of the allowed values or be omitted.${unseenDifference(written, MANIFEST_OPERATIONS)}`,
        MANIFEST_OPERATIONS,
      );
    return operation;
  }
  if (values.get('operation') !== undefined) return undefined;
  const kind = model === undefined ? undefined : await lookup.kindOf(model);
  const ofImages = values.get('images') === undefined ? 'image' : 'edit';
  if (kind !== undefined) return kind === 'image' ? ofImages : 'video';
  return !mayOrder('video', values) && mayOrder(ofImages, values) ? ofImages : 'video';
}

/** Whether all of a row's columns fit this operation. If the model is unknown, the columns indicate the operation. */
function mayOrder(operation: ManifestOperation, values: RowValues): boolean {
  return [...values.all()].every(({ column }) => column.operations.includes(operation));
}

async function readVideo(values: RowValues, common: Common, lookup: SourceLookup): Promise<PaidRequest> {
  const durationSeconds = values.whole('duration');
  const resolution = values.text('resolution');
  const aspectRatio = values.text('aspect_ratio');
  const references = await readReferences(values, lookup);
  const request: VideoRequest = {
    ...common,
    ...given({ durationSeconds, resolution, aspectRatio }),
    ...(references.length > 0 && { references }),
  };
  return { operation: 'create_video', request };
}

async function readImage(
  values: RowValues,
  operation: 'image' | 'edit',
  common: Common,
  lookup: SourceLookup,
): Promise<PaidRequest> {
  const size = values.text('size');
  const quality = values.text('quality');
  const n = values.whole('n');
  const responseFormat = values.text('response_format');
  const request: ImageGenerationRequest = {
    ...common,
    ...given({ size, quality, n }),
    // The request validation refuses other values.
    ...(responseFormat !== undefined && { responseFormat: responseFormat as 'url' }),
  };
  if (operation === 'image') return { operation: 'generate_image', request };
  const images = await readImages(values, 'images', lookup);
  const [mask, ...more] = await readImages(values, 'mask', lookup);
  if (more.length > 0) values.issue('mask', 'An edit can have only one mask.');
  const edit: ImageEditRequest = { ...request, images, ...(mask !== undefined && { mask }) };
  return { operation: 'edit_image', request: edit };
}

function readFields(values: RowValues): { readonly [name: string]: JsonValue } | undefined {
  const fields: [string, JsonValue][] = [];
  for (const { column, key, suffix, value } of values.all()) {
    if (column.name === 'field' && suffix !== undefined) {
      const read = jsonOrText(value);
      if (read === undefined) values.issue(key, BAD_JSON);
      else fields.push([suffix, read]);
    }
    if (column.name !== 'fields') continue;
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      values.issue(key, 'fields must be an object.');
    else if (Object.keys(value).some((name) => !FIELD_NAME.test(name)))
      values.issue(key, 'Field names can be at most 64 characters long and cannot contain spaces.');
    else fields.push(...Object.entries(value));
  }
  if (new Set(fields.map(([name]) => name)).size < fields.length)
    values.issue('fields', 'A field occurs twice.');
  if (fields.some(([, value]) => isDeeperThan(value, MOST_LEVELS)))
    values.issue('fields', `A field can contain at most ${MOST_LEVELS} levels of lists and objects.`);
  return fields.length === 0 ? undefined : Object.fromEntries(fields);
}

const BAD_JSON =
  'This looks like JSON but is invalid or repeats a name. Write text with brackets as a JSON string.';

/** The deepest nesting of a field. Model options need less, and code that reads deeper values could fail. */
const MOST_LEVELS = 32;

function isDeeperThan(value: JsonValue, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner: JsonValue) => isDeeperThan(inner, levels - 1));
}

const NO_SOURCE = "This is not a source. Use a URL, an artifact, or a file below the manifest's folder.";

/** Reads all of a row's references, in column order. */
async function readReferences(values: RowValues, lookup: SourceLookup): Promise<VideoReference[]> {
  const references: VideoReference[] = [];
  for (const { column, key, suffix } of values.all()) {
    const kind = REFERENCE_KINDS.find((one) => `${one}_reference` === column.name);
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
      values.issue('references', 'A reference must be an object {kind, source, field}.');
      continue;
    }
    const { kind, field, ...written } = item;
    const known = REFERENCE_KINDS.find((one) => one === kind);
    if (known === undefined)
      values.issue(
        'references',
        `A reference's kind must be one of the allowed values.${unseenDifference(kind, REFERENCE_KINDS)}`,
        REFERENCE_KINDS,
      );
    else if (field !== undefined && typeof field !== 'string')
      values.issue('references', "A reference's field must be a string.");
    else {
      const source = await sourceOf(values, 'references', written, known, lookup);
      if (source !== undefined)
        references.push({ kind: known, source, ...(field !== undefined && { field }) });
    }
  }
  return references;
}

async function readImages(
  values: RowValues,
  key: 'images' | 'mask',
  lookup: SourceLookup,
): Promise<MediaSource[]> {
  const images: MediaSource[] = [];
  for (const written of values.several(key)) {
    const source = await sourceOf(values, key, written, 'image', lookup);
    if (source === undefined) continue;
    if ('url' in source)
      values.issue(key, 'An edit accepts an artifact or a file, not a URL.', SOURCE_FORMS.slice(1));
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
