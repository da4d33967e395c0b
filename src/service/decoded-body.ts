import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';

/**
 * The bytes of a small API reply without its content encoding. We ask for none, but some gateways compress all the
 * same, and a paid reply must not be lost for that. Undefined for an unknown encoding or more than `maxBytes`.
 */
export function decodedBody(bytes: Buffer, encoding: string, maxBytes: number): Buffer | undefined {
  const options = { maxOutputLength: maxBytes };
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
