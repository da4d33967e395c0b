import { randomUUID } from 'node:crypto';
import type { SharedV4ProviderOptions, SharedV4Warning } from '@ai-sdk/provider' with {
  'resolution-mode': 'import',
};
import {
  type ArtifactRef,
  failureRow,
  type ImageOutcome,
  type JsonValue,
  type MediaSource,
  type VideoOutcome,
} from 'temporal-media';
import { type TemporalMediaClient } from 'temporal-media/client';
import { given } from 'temporal-media/internal/domain/json';
import { name, optional, shapeIssue, type ShapeOf } from 'temporal-media/internal/domain/shape';
import { SNIFF_BYTES, sniffMedia } from 'temporal-media/internal/stores/artifacts/media-type';
import { type ArtifactStore } from 'temporal-media/stores';

/** Name of the provider, of its options in `providerOptions` and of its results in `providerMetadata`. */
export const PROVIDER = 'temporalMedia';

/** What a model needs to start calls and to read their results. */
export interface MediaAccess {
  /** Starts the workflows and reads their state. */
  readonly media: TemporalMediaClient;
  /** The workers' artifact store. Results are read from it, and images and videos of a prompt are stored in it. */
  readonly store: ArtifactStore;
}

/** `providerOptions.temporalMedia` of a call. */
export interface TemporalMediaOptions {
  /**
   * Workflow id and creation key: the same id never buys twice, in any process. @default the header `idempotency-key`,
   * which the AI SDK mints for each video call; for an image call without it, a generated id
   */
  readonly id?: string;
  /** Name of the worker's credential. @default 'default' */
  readonly account?: string;
  /** The service's name for a resolution, such as `720p`, if it is not WIDTHxHEIGHT. @default the call's `resolution` */
  readonly resolution?: string;
  /** Quality of images. @default the service's default */
  readonly quality?: string;
  /** How long the workflow waits for a video, as a duration such as `2h`. @default '24h' */
  readonly waitFor?: string;
  /** Model-specific fields, sent unchanged under their wire names. */
  readonly fields?: { readonly [name: string]: JsonValue };
}

const OPTION_SHAPE = {
  id: optional(name()),
  account: true,
  resolution: true,
  quality: true,
  waitFor: true,
  fields: true,
} satisfies ShapeOf<TemporalMediaOptions>;

/** The options of a call, with an id that is the same for its repeated attempts. */
export interface CallIdentity extends TemporalMediaOptions {
  readonly id: string;
  /** Whether the caller knows the id, so that it may repeat the call. */
  readonly isRepeatable: boolean;
}

/** Reads a call's options and its id. @throws Error for an unknown option */
export function identityOf(
  kind: 'video' | 'image',
  call: {
    readonly providerOptions: SharedV4ProviderOptions;
    readonly headers?: Readonly<Record<string, string | undefined>>;
  },
): CallIdentity {
  const options = (call.providerOptions[PROVIDER] ?? {}) as TemporalMediaOptions;
  const issue = shapeIssue(options, OPTION_SHAPE);
  if (issue !== undefined)
    throw new Error(`providerOptions.${PROVIDER}: ${issue.message} Nothing was started.`);
  const header = Object.entries(call.headers ?? {}).find(([one]) => one.toLowerCase() === 'idempotency-key');
  const id = options.id ?? header?.[1];
  return { ...options, id: id ?? `${kind}-${randomUUID()}`, isRepeatable: id !== undefined };
}

/** By this mark, the AI SDK knows an error that it may repeat, of any package. Its own class is in an ES module. */
const API_CALL_ERROR = Symbol.for('vercel.ai.error.AI_APICallError');

/**
 * Makes a failed call to the Temporal server one that the AI SDK repeats, because the same id attaches to what was
 * started. Other errors are final: the AI SDK throws them at once.
 * @param signal starts nothing after it has aborted
 */
export async function repeatable<Result>(
  { id, isRepeatable }: Pick<CallIdentity, 'id' | 'isRepeatable'>,
  work: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  signal?.throwIfAborted();
  try {
    return await work();
  } catch (error) {
    if ((error as Error | undefined)?.name !== 'ServiceError') throw error;
    const message = `The Temporal server did not answer. If call "${id}" was started, it continues; the same id never buys twice.`;
    throw Object.assign(new Error(message), { [API_CALL_ERROR]: true, isRetryable: isRepeatable });
  }
}

/** Returns a sentence about an outcome that is not a result, and what to do. It never repeats the service's text. */
export function failureText(id: string, outcome: VideoOutcome | ImageOutcome): string {
  const row = failureRow(outcome);
  const message = 'message' in outcome ? outcome.message : (row?.meaning ?? 'No result exists.');
  return `${row?.type ?? outcome.outcome}: ${message} ${row?.hint ?? ''} (id "${id}", billing ${outcome.billing.state})`;
}

/** Warns about settings that the service has no common field for. They are not sent. */
export function unsupported(settings: Readonly<Record<string, unknown>>): SharedV4Warning[] {
  const details = `Not sent. If the model has a field for it, pass it in providerOptions.${PROVIDER}.fields.`;
  return Object.keys(given(settings)).map((feature) => ({ type: 'unsupported', feature, details }));
}

/** A file of a prompt, as the AI SDK passes it to models. */
export type PromptFile =
  | { readonly type: 'url'; readonly url: string }
  | { readonly type: 'file'; readonly data: string | Uint8Array };

/**
 * Stores a prompt's file under its hash, so that histories contain no bytes. Its type is that of its content, because the
 * AI SDK takes what it does not know for an image.
 * @throws Error for bytes that are not media
 */
export async function sourceOf(store: ArtifactStore, file: PromptFile): Promise<MediaSource> {
  if (file.type === 'url') return { url: file.url };
  const bytes = typeof file.data === 'string' ? Buffer.from(file.data, 'base64') : file.data;
  const media = sniffMedia(Buffer.from(bytes.subarray(0, SNIFF_BYTES)));
  if (media === undefined)
    throw new Error('A file of the prompt is not an image, a video or audio. Nothing was started.');
  return { artifact: await store.putBuffer(bytes, { mediaType: media.mediaType }) };
}

/** Reads a result. The store verifies its hash. */
export async function resultBytes(store: ArtifactStore, artifact: ArtifactRef): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of await store.read(artifact)) chunks.push(chunk as Uint8Array);
  return new Uint8Array(Buffer.concat(chunks));
}

/** `response` of a result: no headers, because no HTTP reply belongs to it. */
export function responseOf(modelId: string): { timestamp: Date; modelId: string; headers: undefined } {
  return { timestamp: new Date(), modelId, headers: undefined };
}
