import { type IdempotencyPolicy } from './create-policy';
import { unseenDifference } from './near-names';
import {
  type ReferenceKind,
  type ImageEditRequest,
  type ImageGenerationRequest,
  type MediaSource,
  type PaidRequest,
  type VideoReference,
  type VideoRequest,
} from './request';
import { type ValidationIssue } from './shape';
import { validateRawFields } from './validate-request';
import { type PollingProfile } from './video-task';

/** How one kind of reference is sent (architecture: Requests). There are no implicit mappings. */
export interface ReferenceMapping {
  /** Media kind of the reference. Several fields can accept the same kind. */
  readonly kind: ReferenceKind;
  /** Wire field name. */
  readonly field: string;
  /** Whether the field contains a list or a single value. */
  readonly shape: 'array' | 'string';
  /**
   * `url` sends a URL; for a file, the artifact store signs one. For `data_url` and `base64`, the worker reads the file
   * and sends its bytes inline. `file` sends the bytes as a form part.
   */
  readonly form: 'url' | 'data_url' | 'base64' | 'file';
  /** Maximum number of references in this field; absent if no limit is configured. */
  readonly max?: number;
  /**
   * How long a signed URL is valid, in seconds. @default one hour, or eight times the delay of the model's first poll
   * if that is longer
   */
  readonly validSeconds?: number;
}

const SHORTEST_ADDRESS_SECONDS = 3_600;
/** Seven days, the longest validity that S3 allows. */
export const LONGEST_ADDRESS_SECONDS = 604_800;

/**
 * Returns how long an artifact's signed URL is valid, in milliseconds. The service might not fetch the file until the
 * task starts.
 */
export function addressMs({ polling }: VideoModel, { validSeconds }: ReferenceMapping): number {
  // The first poll is sent after half of the usual time, unless the configuration says otherwise.
  const seconds = validSeconds ?? Math.max(SHORTEST_ADDRESS_SECONDS, 8 * (polling?.firstPollSeconds ?? 0));
  return Math.min(seconds, LONGEST_ADDRESS_SECONDS) * 1_000;
}

/** One line in a per-specification price list. The first line whose keys all match applies. */
export interface SpecificationPrice {
  /** @default any */
  readonly resolution?: string;
  /** @default any */
  readonly durationSeconds?: number;
  /** @default any */
  readonly size?: string;
  /** @default any */
  readonly quality?: string;
  /** Price per task or image with this specification. */
  readonly microUnits: number;
}

/** A model's published price (contract 1): per task, per second or per specification, in integer micro-units. */
export type PriceRule =
  | { readonly per: 'task' | 'second'; readonly microUnits: number; readonly currency: string }
  | {
      readonly per: 'specification';
      /** ISO 4217 code. */
      readonly currency: string;
      /** The first match applies. Without a match, the price is unknown. */
      readonly specifications: readonly SpecificationPrice[];
    };

/** Where the service says what a call cost, in units of the currency: in exactly one of two places. */
export interface ActualRule {
  /** Property of the task's final record, or of the image reply, such as `usage.cost`. @default none */
  readonly path?: string;
  /** Header of the reply to the paid request. @default none */
  readonly header?: string;
  /** ISO 4217 code. The same as the price's. */
  readonly currency: string;
}

/** A video model: the format of its requests, and their allowed values. An omitted list allows every value. */
export interface VideoModel {
  /** Public model id, as requests name it. */
  readonly id: string;
  readonly kind: 'video';
  /** Format of the create's body. The contract specifies JSON. @default 'json' */
  readonly createForm?: 'json' | 'multipart';
  /** @default 'seconds' */
  readonly durationField?: 'seconds' | 'duration';
  /** @default 'integer' */
  readonly durationForm?: 'integer' | 'string';
  /** Allowed durations in seconds. */
  readonly durations?: readonly number[];
  /** Allowed values, such as `720p`. */
  readonly resolutions?: readonly string[];
  /** Allowed values, such as `16:9`. */
  readonly aspectRatios?: readonly string[];
  /** How references are sent. If omitted, requests with references are rejected. */
  readonly references?: readonly ReferenceMapping[];
  /** Names of model-specific fields that may be passed in `fields`. */
  readonly fields?: readonly string[];
  /** How often its tasks are polled. @default after 4 seconds, then every 3 to 5 seconds */
  readonly polling?: PollingProfile;
  /** Maximum time to upload a create request and receive the answer, in seconds. @default 60 */
  readonly requestSeconds?: number;
  /** The idempotency header with which the service guarantees that it accepts a create only once. @default none */
  readonly idempotency?: IdempotencyPolicy;
  /** Absent means unknown, never free. */
  readonly price?: PriceRule;
  /** Where the service says what a call cost. @default nowhere: bills are recorded by `money` commands */
  readonly actual?: ActualRule;
}

/** An image model and its allowed values. An omitted list allows every value. */
export interface ImageModel {
  /** Public model id, as requests name it. */
  readonly id: string;
  readonly kind: 'image';
  /** Allowed values, such as `1024x1024`. */
  readonly sizes?: readonly string[];
  /** Allowed values. */
  readonly qualities?: readonly string[];
  /** Maximum number of results per call. */
  readonly maxN?: number;
  /** Allowed values. */
  readonly responseFormats?: readonly ('url' | 'b64_json')[];
  /** What an edit may contain besides the prompt and the images. @default nothing */
  readonly edit?: {
    readonly mask?: boolean;
    /** Which of size, quality, n and response_format an edit may contain. */
    readonly fields?: readonly ('size' | 'quality' | 'n' | 'response_format')[];
    readonly maxImages?: number;
  };
  /** Names of model-specific fields that may be passed in `fields`. */
  readonly fields?: readonly string[];
  /** Maximum time to upload a generation or edit request and receive the answer, in seconds. @default 240 */
  readonly requestSeconds?: number;
  /** The idempotency header with which the service guarantees that it accepts a call only once. @default none */
  readonly idempotency?: IdempotencyPolicy;
  /** Price per image. Absent means unknown, never free. */
  readonly price?: PriceRule;
  /** Where the service says what a call cost. @default nowhere: bills are recorded by `money` commands */
  readonly actual?: ActualRule;
}

/** A model in the configuration. */
export type ModelEntry = VideoModel | ImageModel;

/**
 * The live model configuration (contract 2.3, architecture: Models), which is reloaded when its time to live expires.
 */
export interface ModelConfiguration {
  readonly version: 1;
  /** Ids are unique. */
  readonly models: readonly ModelEntry[];
}

/** Result of looking up a model at the time of a call. */
export type ModelLookup =
  | { readonly found: 'entry'; readonly entry: ModelEntry }
  /** No entry. Unknown models are allowed, but only with safe fields (`validated: false`). */
  | { readonly found: 'unlisted' }
  /** This process does not have the configuration; only workers do. */
  | { readonly found: 'not_known_here' }
  /** No entry, and unknown models are rejected. */
  | { readonly found: 'refused'; readonly known: readonly string[] };

/**
 * Checks a paid request against the live model configuration (architecture: Models). Pure; changes nothing. A value
 * passes if the entry has no list for it, except for values that the contract allows only if listed: `auto`, quality,
 * response_format, mask and other edit fields.
 */
export function validateAgainstModel(
  paid: PaidRequest,
  lookup: ModelLookup,
): { readonly issues: readonly ValidationIssue[]; readonly validated: boolean } {
  switch (lookup.found) {
    case 'refused': {
      const message = `This model is not in the live model configuration.${unseenDifference(paid.request.model, lookup.known)}`;
      return { issues: [{ field: 'model', message, allowed: lookup.known }], validated: false };
    }
    case 'not_known_here':
      return { issues: validateRawFields(paid.request.fields, paid), validated: false };
    case 'unlisted':
      return { issues: validateUnlisted(paid), validated: false };
    case 'entry': {
      const { entry } = lookup;
      const expected = paid.operation === 'create_video' ? 'video' : 'image';
      const message = `This model creates ${entry.kind}s, but this call needs a model that creates ${expected}s.`;
      const issues = entry.kind === expected ? validateEntry(paid, entry) : [{ field: 'model', message }];
      return { issues, validated: true };
    }
  }
}

function validateEntry(paid: PaidRequest, entry: VideoModel | ImageModel): ValidationIssue[] {
  if (paid.operation === 'create_video') return validateVideo(paid.request, entry as VideoModel);
  if (paid.operation === 'generate_image') return validateGeneration(paid.request, entry as ImageModel);
  return validateEdit(paid.request, entry as ImageModel);
}

function validateVideo(request: VideoRequest, entry: VideoModel): ValidationIssue[] {
  const references = validateReferences(request.references ?? [], entry.references ?? []);
  return [
    ...oneOf('durationSeconds', request.durationSeconds, entry.durations),
    ...oneOf('resolution', request.resolution, entry.resolutions),
    ...oneOf('aspectRatio', request.aspectRatio, entry.aspectRatios),
    ...references.issues,
    ...validateRawFields(request.fields, {
      operation: 'create_video',
      used: references.used,
      listed: entry.fields,
    }),
  ];
}

function validateGeneration(request: ImageGenerationRequest, entry: ImageModel): ValidationIssue[] {
  return [
    ...imageValues(request, entry),
    ...(entry.qualities === undefined ? unlisted('quality', request.quality) : []),
    ...(entry.responseFormats === undefined ? unlisted('responseFormat', request.responseFormat) : []),
    ...validateRawFields(request.fields, { operation: 'generate_image', listed: entry.fields }),
  ];
}

/** Edit fields, each with its name in the configuration. */
const EDIT_FIELDS = [
  ['size', 'size'],
  ['quality', 'quality'],
  ['n', 'n'],
  ['responseFormat', 'response_format'],
] as const;

function validateEdit(request: ImageEditRequest, entry: ImageModel): ValidationIssue[] {
  const issues = imageValues(request, entry);
  for (const [field, name] of EDIT_FIELDS)
    if (!(entry.edit?.fields ?? []).includes(name)) issues.push(...unlisted(field, request[field]));
  if (entry.edit?.mask !== true) issues.push(...unlisted('mask', request.mask));
  const max = entry.edit?.maxImages;
  if (max !== undefined && request.images.length > max)
    issues.push({ field: 'images', message: `This model accepts at most ${max} images.` });
  issues.push(...validateRawFields(request.fields, { operation: 'edit_image', listed: entry.fields }));
  return issues;
}

function imageValues(request: ImageGenerationRequest, entry: ImageModel): ValidationIssue[] {
  const issues = [
    ...oneOf('size', request.size, entry.sizes),
    ...oneOf('quality', request.quality, entry.qualities),
    ...oneOf('responseFormat', request.responseFormat, entry.responseFormats),
  ];
  if (entry.sizes === undefined && request.size === 'auto') issues.push(...unlisted('size', request.size));
  if (entry.maxN !== undefined && request.n !== undefined && request.n > entry.maxN)
    issues.push({ field: 'n', message: `n must be at most ${entry.maxN} for this model.` });
  return issues;
}

/**
 * Without an entry, allows only fields that every model accepts. Any other field would be a guess (architecture:
 * Models).
 */
function validateUnlisted(paid: PaidRequest): ValidationIssue[] {
  const { request, operation } = paid;
  const issues: ValidationIssue[] = [];
  const refuse = (field: string, value: unknown) => {
    if (value === undefined) return;
    const message = `The model has no configuration entry, so it is unknown whether it accepts ${field}. Set MEDIA_MODELS to a configuration with this model, or omit the field.`;
    issues.push({ field, message });
  };
  if (operation === 'create_video') {
    refuse('references', (request.references ?? []).length > 0 ? request.references : undefined);
  } else {
    refuse('quality', request.quality);
    refuse('responseFormat', request.responseFormat);
    refuse('size', operation === 'edit_image' || request.size === 'auto' ? request.size : undefined);
  }
  if (operation === 'edit_image') {
    refuse('n', request.n);
    refuse('mask', request.mask);
  }
  return [...issues, ...validateRawFields(request.fields, { operation })];
}

function unlisted(field: string, value: unknown): ValidationIssue[] {
  if (value === undefined) return [];
  return [{ field, message: `The model's configuration does not list ${field} for this call.` }];
}

function oneOf<T extends string | number>(
  field: string,
  value: T | undefined,
  allowed: readonly T[] | undefined,
): ValidationIssue[] {
  if (value === undefined || allowed === undefined || allowed.includes(value)) return [];
  const values = allowed.map(String);
  const message = `${field} has a value that this model does not accept.${unseenDifference(value, values)}`;
  return [{ field, message, allowed: values }];
}

/** Returns a reference's mapping, or undefined if there is none or it is ambiguous. Never guesses. */
export function mappingOf(
  reference: VideoReference,
  mappings: readonly ReferenceMapping[],
): ReferenceMapping | undefined {
  const candidates = mappings.filter(
    ({ kind, field }) =>
      kind === reference.kind && (reference.field === undefined || field === reference.field),
  );
  return candidates.length === 1 ? candidates[0] : undefined;
}

/** Returns the files that the service receives as URLs, each with its field in the request. */
export function addressedSources(
  { operation, request }: PaidRequest,
  lookup: ModelLookup,
): readonly { readonly source: Exclude<MediaSource, { url: string }>; readonly field: string }[] {
  if (operation !== 'create_video' || lookup.found !== 'entry' || lookup.entry.kind !== 'video') return [];
  const { references: mappings = [] } = lookup.entry;
  return (request.references ?? []).flatMap((reference, index) =>
    !('url' in reference.source) && mappingOf(reference, mappings)?.form === 'url'
      ? [{ source: reference.source, field: `references[${index}].source` }]
      : [],
  );
}

/** Checks references against a model's mappings. @returns the issues, and the wire fields that the references use */
function validateReferences(references: readonly VideoReference[], mappings: readonly ReferenceMapping[]) {
  const issues: ValidationIssue[] = [];
  const taken = new Map<ReferenceMapping, number>();
  references.forEach((reference, index) => {
    const mapping = mappingOf(reference, mappings);
    if (mapping === undefined) return void issues.push(withoutMapping(reference, index, mappings));
    taken.set(mapping, (taken.get(mapping) ?? 0) + 1);
    // The service cannot fetch other URLs. For a file, the worker's artifact store signs one.
    if (mapping.form === 'url' && 'url' in reference.source && !/^https?:/i.test(reference.source.url))
      issues.push({
        field: `references[${index}].source`,
        message: `This model accepts ${reference.kind} references only as http or https URLs.`,
      });
  });
  return {
    issues: [...issues, ...counts(taken)],
    used: [...new Set([...taken.keys()].map(({ field }) => field))],
  };
}

function withoutMapping(
  reference: VideoReference,
  index: number,
  mappings: readonly ReferenceMapping[],
): ValidationIssue {
  const fields = mappings.filter(({ kind }) => kind === reference.kind).map(({ field }) => field);
  if (fields.length === 0)
    return {
      field: `references[${index}].kind`,
      message: `This model does not accept ${reference.kind} references.`,
      allowed: [...new Set(mappings.map(({ kind }) => kind))],
    };
  return {
    field: `references[${index}].field`,
    message:
      reference.field === undefined
        ? `This model has more than one field for ${reference.kind} references. Specify one.`
        : `This model has no such field for ${reference.kind} references.${unseenDifference(reference.field, fields)}`,
    allowed: fields,
  };
}

function counts(taken: ReadonlyMap<ReferenceMapping, number>): ValidationIssue[] {
  const issues: ValidationIssue[] = [];
  for (const [{ kind, field, max }, count] of taken)
    if (max !== undefined && count > max)
      issues.push({ field: 'references', message: `${field} accepts at most ${max} ${kind} references.` });
  // A field with the shape `string` contains a single value, even if several kinds share it.
  const fields = new Set(
    [...taken.keys()].filter(({ shape }) => shape === 'string').map(({ field }) => field),
  );
  for (const name of fields) {
    const sum = [...taken].reduce((total, [{ field }, count]) => total + (field === name ? count : 0), 0);
    if (sum > 1) issues.push({ field: 'references', message: `${name} accepts only one reference.` });
  }
  return issues;
}
