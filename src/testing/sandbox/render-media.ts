import { encodeVideo } from './encode-video';
import { type MediaSpec } from './media-spec';
import { renderImage } from './render-image';

/** The bytes of a spec: an MP4 or a PNG. Blocks its thread while it works. */
export async function renderMedia(spec: MediaSpec): Promise<Buffer> {
  return spec.kind === 'video' ? encodeVideo(spec) : renderImage(spec);
}
