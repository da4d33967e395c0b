/** Determines the bytes of a generated video. Equal specs produce equal bytes, even after a restart. */
export interface VideoSpec {
  kind: 'video';
  model: string;
  prompt: string;
  seconds: number;
  resolution: string;
  aspectRatio: string;
}

/** Determines the bytes of a generated image. */
export interface ImageSpec {
  kind: 'image';
  model: string;
  prompt: string;
  width: number;
  height: number;
  /** Index of the result, from 0. */
  index: number;
  /** SHA-256 of an edit's input files, in order. */
  inputs: string[];
}

export type MediaSpec = VideoSpec | ImageSpec;

const ratios: Record<string, [number, number]> = {
  '16:9': [16, 9],
  '9:16': [9, 16],
  '1:1': [4, 4],
  '4:3': [12, 9],
  '3:4': [9, 12],
  '21:9': [21, 9],
};

/** Pixels per unit of the aspect ratio; the picture is scaled down to keep encoding cheap. */
const units: Record<string, number> = { '480p': 16, '720p': 20, '1080p': 24, '4K': 28 };

/** Returns the size of the encoded video in pixels. Both sides are even. */
export function videoSize(spec: Pick<VideoSpec, 'resolution' | 'aspectRatio'>): {
  width: number;
  height: number;
} {
  const [width, height] = ratios[spec.aspectRatio] ?? [16, 9];
  const unit = units[spec.resolution] ?? 16;
  return { width: width * unit, height: height * unit };
}

/** Frames per second of every generated video. */
export const framesPerSecond = 10;
