import { nominalSize } from '../../../packages/sandbox/src/media-store';

test.each([
  ['480p', '16:9', '854x480'],
  ['720p', '9:16', '720x1280'],
  ['480p', 'wide', '854x480'],
  ['480p', '16:', '854x480'],
  ['480p', '0:0', '854x480'],
  ['huge', 'auto', '854x480'],
])(
  'a video of %s and %s has the size %s: numbers, whatever the ratio is called',
  (resolution, ratio, size) => {
    expect(nominalSize({ resolution, aspectRatio: ratio })).toBe(size);
  },
);
