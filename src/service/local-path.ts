import { type JsonValue } from '../domain/json';

const PATH = /^\s*(?:file:|[a-z]:[\\/]|\\\\|~\/|\.{1,2}[\\/]|\/(?!\/))/i;
const FILE_NAME =
  /^[^\s:?]{1,255}\.(?:png|jpe?g|webp|gif|bmp|tiff?|avif|heic|mp4|mov|webm|mkv|avi|wav|mp3|m4a|flac|ogg)$/i;

/** Dotted places in a JSON value that hold what looks like a path of this machine (C2.4.6). */
export function localPathsIn(value: JsonValue, at: string): string[] {
  if (typeof value === 'string') return PATH.test(value) || FILE_NAME.test(value) ? [at] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => localPathsIn(inner, `${at}.${name}`));
}
