/** Patch of a record that takes every place of a result URL away. */
export const withoutUrl: Record<string, null> = Object.fromEntries(
  [
    'url',
    'output_url',
    'video_url',
    'metadata',
    'urls',
    'video',
    'data',
    'result_url',
    'output',
    'assets',
    'content',
  ].map((name) => [name, null]),
);
