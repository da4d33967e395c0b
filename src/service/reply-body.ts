import { type Readable } from 'node:stream';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { throwBug } from '../domain/bug';
import { type JsonValue, parseOwnJson } from '../domain/json';

/** Largest reply that is read, in bytes. A record may contain a `data:` URL of the result. */
export const MAX_REPLY_BYTES = {
  record: 16 * 1024 * 1024,
  videoCreate: 1024 * 1024,
  imageCall: 256 * 1024 * 1024,
  downloadError: 64 * 1024,
} as const;

/** Collects bytes of unknown number in one block, which doubles: tiny chunks as objects of their own would take more. */
export class ReplyBytes {
  #block = Buffer.alloc(0);
  size = 0;

  constructor(private readonly maxBytes: number) {}

  /** Keeps a copy, of what has room. @returns false when the limit is exceeded */
  add(chunk: Uint8Array): boolean {
    const fits = chunk.subarray(0, this.maxBytes - this.size);
    const size = this.size + fits.length;
    if (size > this.#block.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(size, Math.min(2 * size, this.maxBytes)));
      larger.set(this.whole());
      this.#block = larger;
    }
    this.#block.set(fits, this.size);
    this.size = size;
    return fits.length === chunk.length;
  }

  whole(): Buffer {
    return this.#block.subarray(0, this.size);
  }
}

/** The part of a reply's body that could be read. Returned, never thrown. */
export interface BoundedBody {
  /** The bytes read, at most the limit. */
  readonly bytes: Buffer;
  /** `complete`, or why the rest is missing. */
  readonly end: 'complete' | 'too_large' | 'too_late' | 'broken';
}

export interface BodyLimits {
  readonly maxBytes: number;
  /** Time in milliseconds from now within which the whole body must arrive. */
  readonly withinMs: number;
}

/** Reads a body up to a size and a time limit; drops the rest and destroys the stream. */
export async function readBoundedBody(body: Readable, limits: BodyLimits): Promise<BoundedBody> {
  const kept = new ReplyBytes(limits.maxBytes);
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    body.destroy();
  }, limits.withinMs);
  const ended = (end: BoundedBody['end']): BoundedBody => ({ bytes: kept.whole(), end });
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) if (!kept.add(chunk)) return ended('too_large');
    return ended(late ? 'too_late' : 'complete');
  } catch (error) {
    throwBug(error);
    return ended(late ? 'too_late' : 'broken');
  } finally {
    clearTimeout(timer);
    // A destroyed body still emits the error of its socket; nothing handles it.
    body.on('error', () => undefined).destroy();
  }
}

/** Deepest nesting that is read; real replies have less than ten levels. */
const MAX_DEPTH = 64;
/** Most values that are read; real replies have less than a thousand. Objects take far more memory than their text. */
const MAX_VALUES = 100_000;
const COMMA = 0x2c;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The JSON value of a body, with or without a byte order mark; undefined when invalid, too deep or too large. */
export function parseJsonBody(bytes: Buffer): JsonValue | undefined {
  if (isTooMuch(bytes)) return undefined;
  try {
    const text = bytes.toString('utf8');
    return parseOwnJson(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch (error) {
    throwBug(error);
    return undefined;
  }
}

/** Counts brackets and commas outside strings; skips strings as a whole, so that 256 MiB of Base64 cost little. */
function isTooMuch(bytes: Buffer): boolean {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = endOfString(bytes, at);
      if (at < 0) return false;
    } else if (byte === 0x5b || byte === 0x7b) {
      depth += 1;
      values += 1;
      if (depth > MAX_DEPTH || values > MAX_VALUES) return true;
    } else if (byte === COMMA) {
      values += 1;
      if (values > MAX_VALUES) return true;
    } else if (byte === 0x5d || byte === 0x7d) {
      depth -= 1;
    }
  }
  return false;
}

/** Index of the quote that closes the string opened at `start`; -1 when there is none, which is invalid JSON. */
function endOfString(bytes: Buffer, start: number): number {
  for (let at = bytes.indexOf(QUOTE, start + 1); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
    let slashes = 0;
    while (bytes[at - 1 - slashes] === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return -1;
}

/** Largest ratio of decompressed to compressed size: replies have about 10, a decompression bomb has 1000. */
const MAX_RATIO = 32;
const ALWAYS_ALLOWED = 256 * 1024;

/**
 * Decodes a small API reply. Requests ask for no encoding, but some gateways compress anyway, and a paid reply must not
 * be lost for that reason. Undefined for an unknown encoding, more than `maxBytes`, or a decompression bomb.
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
  } catch (error) {
    throwBug(error);
    return undefined;
  }
}
