import { readFile } from 'node:fs/promises';
import { isDataUrl } from '../domain/data-url';
import { type JsonValue } from '../domain/json';
import { type ReferenceMapping } from '../domain/model-config';
import { type ReferenceKind } from '../domain/request';
import { type ValidationIssue } from '../domain/validation-issue';
import { filePart, type WireFields, type WireFile, type WirePart } from './wire-body';

/** A reference with its bytes, or with an address that the service fetches itself. */
export interface ResolvedReference {
  readonly kind: ReferenceKind;
  readonly field?: string;
  readonly source:
    | { readonly kind: 'url'; readonly url: string }
    | { readonly kind: 'file'; readonly file: WireFile };
}

/**
 * Adds the references to the fields or the file parts of a video create. Field and form (a part, Base64, `data:` URL or
 * address) come from the model's configuration only (C2.1.5); nothing is guessed.
 */
export async function addReferences(
  fields: WireFields,
  files: WirePart[],
  references: readonly ResolvedReference[],
  mappings: readonly ReferenceMapping[],
): Promise<ValidationIssue[]> {
  const issues: ValidationIssue[] = [];
  const values = new Map<ReferenceMapping, JsonValue[]>();
  for (const [index, reference] of references.entries()) {
    const mapping = mappingOf(reference, mappings);
    if ('issue' in mapping) {
      issues.push({ field: `references[${index}]`, ...mapping.issue });
      continue;
    }
    if (mapping.found.form === 'file' && reference.source.kind === 'file') {
      const stem = `${reference.kind}-${index + 1}`;
      files.push(filePart(mapping.found.field, stem, reference.source.file));
      continue;
    }
    const value = await referenceValue(reference, mapping.found);
    if (value === undefined) issues.push(wrongForm(index, mapping.found));
    else values.set(mapping.found, [...(values.get(mapping.found) ?? []), value]);
  }
  for (const [mapping, list] of values) issues.push(...place(fields, mapping, list));
  return issues;
}

function place(fields: WireFields, mapping: ReferenceMapping, list: JsonValue[]): ValidationIssue[] {
  const max = mapping.shape === 'string' ? 1 : mapping.max;
  if (max !== undefined && list.length > max) {
    return [
      {
        field: 'references',
        message: `The model takes at most ${max} ${mapping.kind} under ${mapping.field}.`,
      },
    ];
  }
  const there = fields[mapping.field];
  if (mapping.shape === 'array' && Array.isArray(there)) there.push(...list);
  else if (there !== undefined)
    return [{ field: 'references', message: `${mapping.field} cannot hold references of several kinds.` }];
  else fields[mapping.field] = mapping.shape === 'array' ? list : (list[0] ?? null);
  return [];
}

function mappingOf(
  reference: ResolvedReference,
  mappings: readonly ReferenceMapping[],
): { found: ReferenceMapping } | { issue: { message: string; allowed?: readonly string[] } } {
  const ofKind = mappings.filter(({ kind }) => kind === reference.kind);
  const fitting =
    reference.field === undefined ? ofKind : ofKind.filter(({ field }) => field === reference.field);
  if (fitting.length === 1 && fitting[0] !== undefined) return { found: fitting[0] };
  if (ofKind.length === 0) {
    return {
      issue: {
        message: `The model configuration (MEDIA_MODELS) names no field for a reference of kind ${reference.kind}.`,
      },
    };
  }
  return {
    issue: {
      message: `The model has several fields for this kind, or not this one: name one of them as field.`,
      allowed: ofKind.map(({ field }) => field),
    },
  };
}

/** The reference in the form that the model requires; undefined when the source cannot provide it. */
async function referenceValue(
  { source }: ResolvedReference,
  { form }: ReferenceMapping,
): Promise<string | undefined> {
  if (source.kind === 'url') {
    if (form === 'url' || (form === 'data_url' && isDataUrl(source.url))) return source.url;
    return undefined;
  }
  if (form === 'url' || form === 'file') return undefined;
  const { file } = source;
  const bytes = 'path' in file.source ? await readFile(file.source.path) : Buffer.from(file.source.data);
  const base64 = bytes.toString('base64');
  return form === 'base64' ? base64 : `data:${file.mediaType};base64,${base64}`;
}

function wrongForm(index: number, { form }: ReferenceMapping): ValidationIssue {
  return {
    field: `references[${index}].source`,
    message:
      form === 'url'
        ? 'The model takes references as URLs only; a file cannot be sent to it.'
        : 'The model takes the bytes of a reference, and this source does not provide them.',
    allowed: form === 'url' ? ['url'] : ['artifact', 'file'],
  };
}
