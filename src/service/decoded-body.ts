import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';

/** What a text may grow by when it is unpacked: replies grow about tenfold, a bomb a thousandfold. */
const MAX_RATIO = 32;
const ALWAYS_ALLOWED = 256 * 1024;

/**
 * The bytes of a small API reply without its content encoding. We ask for none, but some gateways compress all the
 * same, and a paid reply must not be lost for that. Undefined for an unknown encoding, more than `maxBytes`, or what only
 * a bomb holds.
 */
export function decodedBody(bytes: Buffer, encoding: string, maxBytes: number): Buffer | undefined {
  const plausible = Math.max(ALWAYS_ALLOWED, bytes.length * MAX_RATIO);
  const options = { maxOutputLength: Math.min(maxBytes, plausible) };
  try {
    switch (encoding.trim().toLowerCase()) {
      case '':
      case 'identity':
        return bytes;
      case 'gzip':
      case 'x-gzip':
        return gunzipSync(bytes, options);
      case 'deflate':
        return inflateSync(bytes, options);
      case 'br':
        return brotliDecompressSync(bytes, options);
      default:
        return undefined;
    }
  } catch {
    return undefined;
  }
}
