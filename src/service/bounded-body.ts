import { type Readable } from 'node:stream';
import { type JsonValue } from '../domain/json';

/** What could be read of a reply's body. Never thrown. */
export interface BoundedBody {
  /** The bytes read; at most the limit. */
  readonly bytes: Buffer;
  /** `complete`, or why the rest is missing. */
  readonly end: 'complete' | 'too_large' | 'too_late' | 'broken';
}

export interface BodyLimits {
  readonly maxBytes: number;
  /** Time in milliseconds from now within which the whole body must be there. */
  readonly withinMs: number;
}

/** Reads a body up to a number of bytes and a moment; what is over is cut off and the stream destroyed. */
export async function readBoundedBody(body: Readable, limits: BodyLimits): Promise<BoundedBody> {
  const chunks: Buffer[] = [];
  let size = 0;
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    body.destroy();
  }, limits.withinMs);
  const result = (end: BoundedBody['end']): BoundedBody => ({ bytes: Buffer.concat(chunks), end });
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      const room = limits.maxBytes - size;
      chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
      size += Math.min(chunk.length, room);
      if (chunk.length > room) return result('too_large');
    }
    return result(late ? 'too_late' : 'complete');
  } catch {
    return result(late ? 'too_late' : 'broken');
  } finally {
    clearTimeout(timer);
    // A destroyed body still reports the end of its socket: nobody is left to hear it.
    body.on('error', () => undefined).destroy();
  }
}

/** Deepest nesting that is read; real replies have less than ten levels. */
const MAX_DEPTH = 64;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The JSON value of a body, a byte order mark tolerated; undefined when it is none or nests too deep. */
export function parseJsonBody(bytes: Buffer): JsonValue | undefined {
  if (isTooDeep(bytes)) return undefined;
  try {
    const text = bytes.toString('utf8');
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Runs over the brackets outside of strings; strings are skipped whole, so that 256 MiB of Base64 cost little. */
function isTooDeep(bytes: Buffer): boolean {
  let depth = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = endOfString(bytes, at);
      if (at < 0) return false;
    } else if (byte === 0x5b || byte === 0x7b) {
      depth += 1;
      if (depth > MAX_DEPTH) return true;
    } else if (byte === 0x5d || byte === 0x7d) {
      depth -= 1;
    }
  }
  return false;
}

/** Index of the quote that closes the string opened at `start`; -1 when none does, which no JSON parser accepts. */
function endOfString(bytes: Buffer, start: number): number {
  for (let at = bytes.indexOf(QUOTE, start + 1); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
    let slashes = 0;
    while (bytes[at - 1 - slashes] === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return -1;
}
