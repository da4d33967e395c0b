/**
 * Video and image models for the AI SDK. Each call is a Temporal workflow under an id, so that repeated attempts of one
 * call, lost connections and a restarted process never buy twice.
 *
 * @module
 */
import type { Experimental_VideoModelV4, ImageModelV4 } from '@ai-sdk/provider' with {
  'resolution-mode': 'import',
};
import { imageModel, videoModel } from './ai-models';
import { type MediaAccess } from './call-options';

export { type MediaAccess, type TemporalMediaOptions } from './call-options';

/** The models of one Temporal client. */
export interface TemporalMediaProvider {
  /** Returns a video model for `experimental_generateVideo`, `experimental_startVideo` and `experimental_getVideoStatus`. */
  video(modelId: string): Experimental_VideoModelV4;
  /** Returns an image model for `generateImage`. */
  image(modelId: string): ImageModelV4;
}

/** Creates a provider for the AI SDK. It needs no API key: workers have it. Sends nothing. */
export function createTemporalMedia(access: MediaAccess): TemporalMediaProvider {
  return {
    video: (modelId) => videoModel(access, modelId),
    image: (modelId) => imageModel(access, modelId),
  };
}
