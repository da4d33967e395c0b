import { type JsonValue } from './json';
import { SOURCE_KEYS, type MediaSource, type VideoReference } from './media';
import { type KeysOf } from './known-keys';

/** A video to create (contract 2.1). A field that is not given is left out of the request (C2.1.6). */
export interface VideoRequest {
  /** Public model id, sent exactly as given (C0.3). */
  readonly model: string;
  readonly prompt: string;
  /** Whole seconds; sent as `seconds` or `duration` as the model wants (C2.1.2). */
  readonly durationSeconds?: number;
  /** For example `720p`; the values are the model's own (C2.1.3). */
  readonly resolution?: string;
  /** For example `16:9`. */
  readonly aspectRatio?: string;
  readonly references?: readonly VideoReference[];
  /** Model-specific fields, sent as they are under their wire name: the explicit way out (architecture: Models). */
  readonly fields?: { readonly [name: string]: JsonValue };
}

/** How results of an image call come back (contract 2.5). */
export type ImageResponseFormat = 'url' | 'b64_json';

/** An image to generate (contract 2.3). */
export interface ImageGenerationRequest {
  readonly model: string;
  readonly prompt: string;
  /** `WIDTHxHEIGHT` with a lowercase x, or `auto` where the model supports it. */
  readonly size?: string;
  readonly quality?: string;
  /** Number of results, at least 1; the service's default is 1. */
  readonly n?: number;
  readonly responseFormat?: ImageResponseFormat;
  readonly fields?: { readonly [name: string]: JsonValue };
}

/** Images to edit (contract 2.4): at least one file, their order is kept. */
export interface ImageEditRequest extends ImageGenerationRequest {
  readonly images: readonly MediaSource[];
  /** Sent only when the model's configuration lists mask editing (C2.4.5). */
  readonly mask?: MediaSource;
}

/** The three paid calls (contract-rules: "Paid call"). */
export type PaidOperation = 'create_video' | 'generate_image' | 'edit_image';

export type PaidRequest =
  | { readonly operation: 'create_video'; readonly request: VideoRequest }
  | { readonly operation: 'generate_image'; readonly request: ImageGenerationRequest }
  | { readonly operation: 'edit_image'; readonly request: ImageEditRequest };

export const VIDEO_REQUEST_KEYS = {
  model: true,
  prompt: true,
  durationSeconds: true,
  resolution: true,
  aspectRatio: true,
  references: true,
  fields: true,
} satisfies KeysOf<VideoRequest>;

export const IMAGE_REQUEST_KEYS = {
  model: true,
  prompt: true,
  size: true,
  quality: true,
  n: true,
  responseFormat: true,
  fields: true,
} satisfies KeysOf<ImageGenerationRequest>;

export const EDIT_REQUEST_KEYS = {
  ...IMAGE_REQUEST_KEYS,
  images: true,
  mask: SOURCE_KEYS,
} satisfies KeysOf<ImageEditRequest>;
