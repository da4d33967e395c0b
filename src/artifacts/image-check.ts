import { imageSize } from 'image-size';
import { sniffMedia } from './media-type';

/** Largest picture that is taken for one, in pixels: a header may claim more than any viewer can unpack. */
export const MAX_IMAGE_PIXELS = 100_000_000;

/** Bytes of an image's beginning that hold its header, large metadata included. */
export const IMAGE_HEAD_BYTES = 1024 * 1024;

export type ImageCheck =
  | { readonly ok: true; readonly mediaType: string; readonly width: number; readonly height: number }
  | {
      readonly ok: false;
      readonly reason: 'not_image' | 'unreadable' | 'too_large';
      readonly message: string;
    };

/** Media type and size of an image from its bytes alone (C2.5.5). Reads the header; decodes nothing. */
export function checkImage(head: Uint8Array): ImageCheck {
  const media = sniffMedia(head);
  if (media?.kind !== 'image') return { ok: false, reason: 'not_image', message: 'The bytes are no image.' };
  const size = measure(head);
  if (size === undefined)
    return {
      ok: false,
      reason: 'unreadable',
      message: `The header of this ${media.mediaType} cannot be read.`,
    };
  const { width, height } = size;
  if (width * height > MAX_IMAGE_PIXELS)
    return {
      ok: false,
      reason: 'too_large',
      message: `The header claims ${width}x${height} pixels, more than ${MAX_IMAGE_PIXELS}.`,
    };
  return { ok: true, mediaType: media.mediaType, width, height };
}

function measure(head: Uint8Array): { width: number; height: number } | undefined {
  try {
    const { width, height } = imageSize(head);
    return Number.isInteger(width) && Number.isInteger(height) && width > 0 && height > 0
      ? { width, height }
      : undefined;
  } catch {
    return undefined;
  }
}
