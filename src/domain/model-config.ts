import { type IdempotencyPolicy } from './create-policy';
import { type PollingProfile } from './polling-profile';
import { type ReferenceKind } from './request';

/** How one kind of reference is sent (architecture: Requests): nothing about it is assumed (C2.1.5). */
export interface ReferenceMapping {
  readonly kind: ReferenceKind;
  /** Wire field name. */
  readonly field: string;
  readonly shape: 'array' | 'string';
  /**
   * `url` refuses files; `data_url` and `base64` read the bytes in the worker, `file` sends them as a part of a form.
   */
  readonly form: 'url' | 'data_url' | 'base64' | 'file';
  /** Largest number of references under this field; absent when no limit is configured. */
  readonly max?: number;
}

/** One line of a price list per specification: the first line whose keys all match is used. */
export interface SpecificationPrice {
  readonly resolution?: string;
  readonly durationSeconds?: number;
  readonly size?: string;
  readonly quality?: string;
  readonly microUnits: number;
}

/** Published price of a model (contract 1): per task, per second or per specification, in integer micro-units. */
export type PriceRule =
  | { readonly per: 'task' | 'second'; readonly microUnits: number; readonly currency: string }
  | {
      readonly per: 'specification';
      readonly currency: string;
      readonly specifications: readonly SpecificationPrice[];
    };

export interface VideoModel {
  readonly id: string;
  readonly kind: 'video';
  /** Body format of a create; the contract's is JSON. @default 'json' */
  readonly createForm?: 'json' | 'multipart';
  /** @default 'seconds' */
  readonly durationField?: 'seconds' | 'duration';
  /** @default 'integer' */
  readonly durationForm?: 'integer' | 'string';
  readonly durations?: readonly number[];
  readonly resolutions?: readonly string[];
  readonly aspectRatios?: readonly string[];
  readonly references?: readonly ReferenceMapping[];
  /** Names of model-specific fields that may be given through `fields`. */
  readonly fields?: readonly string[];
  readonly polling?: PollingProfile;
  /** Longest time, in seconds, for a create to be uploaded and answered. @default 60 */
  readonly requestSeconds?: number;
  readonly idempotency?: IdempotencyPolicy;
  readonly price?: PriceRule;
}

export interface ImageModel {
  readonly id: string;
  readonly kind: 'image';
  readonly sizes?: readonly string[];
  readonly qualities?: readonly string[];
  readonly maxN?: number;
  readonly responseFormats?: readonly ('url' | 'b64_json')[];
  readonly edit?: {
    readonly mask?: boolean;
    /** Which of size, quality, n and response_format an edit may carry (C2.4.7). */
    readonly fields?: readonly ('size' | 'quality' | 'n' | 'response_format')[];
    readonly maxImages?: number;
  };
  readonly fields?: readonly string[];
  /** Longest time, in seconds, for a call or an edit to be uploaded and answered. @default 240 */
  readonly requestSeconds?: number;
  readonly idempotency?: IdempotencyPolicy;
  readonly price?: PriceRule;
}

export type ModelEntry = VideoModel | ImageModel;

/** The live model configuration (contract 2.3, architecture: Models): data, re-read with a time to live. */
export interface ModelConfiguration {
  readonly version: 1;
  readonly models: readonly ModelEntry[];
}

/** What a worker knows about a model at the moment of a call. */
export type ModelLookup =
  | { readonly found: 'entry'; readonly entry: ModelEntry }
  /** No entry, and unknown models may pass with the safe fields only (`validated: false`). */
  | { readonly found: 'unlisted' }
  /** No entry, and unknown models are refused. */
  | { readonly found: 'refused'; readonly known: readonly string[] };
