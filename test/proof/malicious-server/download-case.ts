import { type ContentUnavailableReason } from '../../../src/domain/download';
import { type Answer, type DownloadHarness } from '../../activities/download-harness';
import { ok } from './raw-answers';

export interface Material {
  readonly harness: DownloadHarness;
  /** A whole video, `moov` in front, and another one. */
  readonly video: Buffer;
  readonly other: Buffer;
  readonly key: string;
}

export interface DownloadCase {
  readonly name: string;
  /** The content endpoint. */
  readonly content: (material: Material) => Answer;
  /** The other origin; unknown addresses by default. */
  readonly media?: (material: Material) => Answer;
  readonly record?: (material: Material) => Record<string, unknown>;
  /**
   * Why there is no video; `video` when the bytes are good after all, `other` when those of the other file are, `more` when
   * the video is kept with what is behind it, and with a warning.
   */
  readonly ends: ContentUnavailableReason | 'video' | 'other' | 'more';
  /** What is behind the video. */
  readonly more?: Buffer;
  /** Refused bytes are kept for a person. */
  readonly kept?: true;
  /** It never comes to its end by itself: the limits are short here. */
  readonly slow?: true;
  /** Keeps the processor busy for a second. */
  readonly heavy?: true;
}

export const HTML = '<!doctype html><html><body>502 Bad Gateway</body></html>';
export const JSON_PAGE = JSON.stringify({ error: { message: 'not ready', padding: 'x'.repeat(300) } });
export const length = (bytes: Uint8Array | string): string => `content-length: ${bytes.length}`;
export const toMedia = (m: Material, path = '/video.mp4'): string => `${m.harness.mediaOrigin}${path}`;

/** A whole reply with this body. */
export const body =
  (make: (m: Material) => Uint8Array | string, ...fields: string[]) =>
  (m: Material): Answer => {
    const bytes = make(m);
    return ok([length(bytes), ...fields], bytes);
  };
