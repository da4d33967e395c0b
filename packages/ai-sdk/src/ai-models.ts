import type {
  Experimental_VideoModelV4,
  Experimental_VideoModelV4CallOptions,
  ImageModelV4,
  ImageModelV4CallOptions,
  JSONArray,
  JSONObject,
} from '@ai-sdk/provider' with { 'resolution-mode': 'import' };
import {
  type ImageOutcome,
  type MediaSource,
  type VideoOutcome,
  type VideoReference,
  type VideoRequest,
} from 'temporal-media';
import { type Started } from 'temporal-media/client';
import { describeWorkflow } from 'temporal-media/internal/client/workflow-handle';
import { given } from 'temporal-media/internal/domain/json';
import { isOpen } from 'temporal-media/internal/domain/names';
import {
  type CallIdentity,
  failureText,
  identityOf,
  type MediaAccess,
  PROVIDER,
  repeatable,
  responseOf,
  resultBytes,
  sourceOf,
  unsupported,
} from './call-options';

/** Longer than callers of the AI SDK wait, because a status that is read later should find the video. */
const WAIT_FOR = '24h';

/** See {@link TemporalMediaProvider.video}. The operation is the workflow id. */
export function videoModel(access: MediaAccess, modelId: string): Experimental_VideoModelV4 {
  const { media } = access;
  return {
    specificationVersion: 'v4',
    provider: PROVIDER,
    modelId,
    // All videos of a call arrive in one start. With 1, the AI SDK would start each with the caller's one id.
    maxVideosPerCall: Number.MAX_SAFE_INTEGER,
    async doStart(options) {
      const call = identityOf('video', options);
      if (options.n !== 1)
        throw new Error(
          'One call creates one video. Make a call for each, with its own id. Nothing was started.',
        );
      const request = await requestOf(access, modelId, {
        ...options,
        ...given({ resolution: call.resolution }),
      });
      const input = {
        request,
        waitFor: call.waitFor ?? WAIT_FOR,
        // The same request under another id waits for a person's decision instead of buying a second time.
        refuseWhileUnconfirmed: true,
        ...given({ account: call.account }),
      };
      const start = () => media.startVideo(input, { id: call.id });
      const { workflowId } = await repeatable(call, start, options.abortSignal);
      const { fps, seed, generateAudio } = options;
      return {
        operation: workflowId,
        warnings: unsupported({ fps, seed, generateAudio }),
        providerMetadata: { [PROVIDER]: { workflowId } },
        response: responseOf(modelId),
      };
    },
    async doStatus({ operation }) {
      const id = operation as string;
      const outcome = await repeatable({ id, isRepeatable: true }, () => outcomeOf(access, id));
      const response = responseOf(modelId);
      if (outcome === 'pending') return { status: 'pending', response };
      if (typeof outcome === 'string') return { status: 'error', error: outcome, response };
      if (outcome.outcome !== 'completed')
        return { status: 'error', error: failureText(id, outcome), response };
      const { artifact, video, billing, warnings } = outcome;
      const facts = { workflowId: id, taskId: video.taskId, artifact, billing } as unknown as JSONObject;
      return {
        status: 'completed',
        videos: [
          { type: 'binary', data: await resultBytes(access.store, artifact), mediaType: artifact.mediaType },
        ],
        warnings: warnings.map((message) => ({ type: 'other', message })),
        providerMetadata: { [PROVIDER]: facts },
        response,
      };
    },
  };
}

async function requestOf(
  { store }: MediaAccess,
  model: string,
  options: Omit<Experimental_VideoModelV4CallOptions, 'resolution'> & {
    readonly resolution: string | undefined;
  },
): Promise<VideoRequest> {
  const { prompt = '', duration, resolution, aspectRatio, image, frameImages, inputReferences } = options;
  if ((frameImages ?? []).some(({ frameType }) => frameType !== 'first_frame'))
    throw new Error(
      `frameImages: only a first frame has a common field. Pass others in providerOptions.${PROVIDER}.fields. Nothing was started.`,
    );
  const files = [...(image === undefined ? [] : [image]), ...(inputReferences ?? [])];
  const references: VideoReference[] = await Promise.all(
    files.map(async (file) => referenceTo(await sourceOf(store, file), file.mediaType)),
  );
  const { fields } = (options.providerOptions[PROVIDER] ?? {}) as Pick<VideoRequest, 'fields'>;
  return {
    model,
    prompt,
    ...given({
      durationSeconds: duration,
      resolution,
      aspectRatio,
      references: references.length === 0 ? undefined : references,
      fields,
    }),
  };
}

/** An address without a media type is an image, as in the AI SDK. */
function referenceTo(source: MediaSource, claimed: string | undefined): VideoReference {
  const [kind] = ('artifact' in source ? source.artifact.mediaType : (claimed ?? '')).split('/');
  return { kind: kind === 'video' || kind === 'audio' ? kind : 'image', source };
}

/** Reads a video's outcome without starting anything. A sentence says why there is none. */
async function outcomeOf({ media }: MediaAccess, id: string): Promise<VideoOutcome | string> {
  const found = await describeWorkflow(media.client.workflow, id);
  if (found === undefined) return `No video has the id "${id}" in this namespace.`;
  if (isOpen(found.status.name)) return 'pending';
  if (found.status.name === 'COMPLETED') return media.getVideo(id).result();
  return `Workflow "${id}" was closed without an outcome. Run: temporal-media status ${id}`;
}

/** See {@link TemporalMediaProvider.image}. */
export function imageModel(access: MediaAccess, modelId: string): ImageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: PROVIDER,
    modelId,
    // The service makes all images of a call in one request. The model's configuration limits their number.
    maxImagesPerCall: Number.MAX_SAFE_INTEGER,
    supportsFileInputs: true,
    supportsMaskInputs: true,
    async doGenerate(options) {
      const { abortSignal, aspectRatio, seed } = options;
      const call = identityOf('image', options);
      const started = await start(access, modelId, call, options);
      const outcome = await unlessAborted(
        repeatable(call, () => started.result()),
        abortSignal,
      );
      if (outcome.outcome !== 'completed') throw new Error(failureText(call.id, outcome));
      const { images, warnings, billing } = outcome;
      const { workflowId } = started;
      return {
        images: await Promise.all(images.map((image) => resultBytes(access.store, image))),
        isRetryable: false,
        warnings: [
          ...unsupported({ aspectRatio, seed }),
          ...warnings.map((message) => ({ type: 'other' as const, message })),
        ],
        providerMetadata: {
          [PROVIDER]: { images: images as unknown as JSONArray, workflowId, billing: billing.state },
        },
        response: responseOf(modelId),
      };
    },
  };
}

/** Starts the call, or attaches to the one with this id. A prompt with images is an edit. */
async function start(
  { media, store }: MediaAccess,
  model: string,
  call: CallIdentity,
  { prompt = '', n, size, files = [], mask, abortSignal }: ImageModelV4CallOptions,
): Promise<Started<ImageOutcome>> {
  const { id, account, quality, fields } = call;
  const request = { model, prompt, n, ...given({ size, quality, fields }) };
  const common = { refuseWhileUnconfirmed: true, ...given({ account }) };
  if (files.length === 0 && mask === undefined)
    return repeatable(call, () => media.images.start({ request, ...common }, { id }), abortSignal);
  const images = await Promise.all(files.map((file) => sourceOf(store, file)));
  const edit = { ...request, images, ...(mask && { mask: await sourceOf(store, mask) }) };
  return repeatable(call, () => media.images.start({ request: edit, ...common }, { id }), abortSignal);
}

/** Stops waiting when the caller aborts. The workflow continues, and the same id returns its result. */
async function unlessAborted<Result>(
  work: Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    // A signal that aborted during the start does not fire again.
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
