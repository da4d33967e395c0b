import { type VideoSpec } from './media-spec';

type Shape = Pick<VideoSpec, 'resolution' | 'aspectRatio'>;

const shortSides: Record<string, number> = { '480p': 480, '720p': 720, '1080p': 1080, '4K': 2160 };
const ratios = ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9'];

/** Every resolution with every aspect ratio; each has a size of its own. */
const shapes = Object.keys(shortSides).flatMap((resolution) =>
  ratios.map((aspectRatio): Shape => ({ resolution, aspectRatio })),
);

/** What the published videos API calls `size`, for a resolution and an aspect ratio: WIDTHxHEIGHT, both even. */
export function nominalSize({ resolution, aspectRatio }: Shape): string {
  const short = shortSides[resolution] ?? 480;
  // A ratio in words has no numbers; the published API still calls it by a size.
  const [, width = 16, height = 9] = /^([1-9]\d*):([1-9]\d*)$/.exec(aspectRatio)?.map(Number) ?? [];
  const long = Math.round((short * Math.max(width, height)) / Math.min(width, height) / 2) * 2;
  return width >= height ? `${long}x${short}` : `${short}x${long}`;
}

/** Resolution and aspect ratio of a `size`; undefined when no model could make it. */
export function readNominalSize(size: string): Shape | undefined {
  return shapes.find((shape) => nominalSize(shape) === size);
}

/** The sizes that a model with these resolutions and ratios can make; without a list every one counts. */
export function nominalSizes(resolutions?: readonly string[], aspectRatios?: readonly string[]): string[] {
  return shapes
    .filter((one) => resolutions?.includes(one.resolution) ?? true)
    .filter((one) => aspectRatios?.includes(one.aspectRatio) ?? true)
    .map(nominalSize);
}
