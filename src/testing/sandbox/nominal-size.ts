import { type VideoSpec } from './media-spec';

const shortSides: Record<string, number> = { '480p': 480, '720p': 720, '1080p': 1080, '4K': 2160 };
const ratios = ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9'];

/** What the published videos API calls `size`, for a resolution and an aspect ratio: WIDTHxHEIGHT, both even. */
export function nominalSize({
  resolution,
  aspectRatio,
}: Pick<VideoSpec, 'resolution' | 'aspectRatio'>): string {
  const short = shortSides[resolution] ?? 480;
  const [width = 16, height = 9] = aspectRatio.split(':').map(Number);
  const long = Math.round((short * Math.max(width, height)) / Math.min(width, height) / 2) * 2;
  return width >= height ? `${long}x${short}` : `${short}x${long}`;
}

/** Resolution and aspect ratio of a `size`; undefined when no model could make it. */
export function readNominalSize(size: string): { resolution: string; aspectRatio: string } | undefined {
  for (const resolution of Object.keys(shortSides)) {
    const aspectRatio = ratios.find((ratio) => nominalSize({ resolution, aspectRatio: ratio }) === size);
    if (aspectRatio !== undefined) return { resolution, aspectRatio };
  }
  return undefined;
}
