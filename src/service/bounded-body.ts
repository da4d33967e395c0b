import { type Readable } from 'node:stream';
import { type JsonValue } from '../domain/json';
import { parseOwnJson } from '../domain/own-json';
import { ReplyBytes } from './reply-bytes';

/** What could be read of a reply's body. Never thrown. */
export interface BoundedBody {
  /** The bytes read; at most the limit. Of a long body that did not come whole, its beginning. */
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
  const kept = new ReplyBytes();
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    body.destroy();
  }, limits.withinMs);
  const cut = async (end: BoundedBody['end']): Promise<BoundedBody> => ({
    bytes: await kept.beginning().catch(() => Buffer.alloc(0)),
    end,
  });
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      const room = limits.maxBytes - kept.size;
      await kept.add(chunk.length > room ? chunk.subarray(0, room) : chunk);
      if (chunk.length > room) return await cut('too_large');
    }
    return late ? await cut('too_late') : { bytes: await kept.whole(), end: 'complete' };
  } catch {
    return await cut(late ? 'too_late' : 'broken');
  } finally {
    clearTimeout(timer);
    // A destroyed body still reports the end of its socket: nobody is left to hear it.
    body.on('error', () => undefined).destroy();
    await kept.close();
  }
}

/** Deepest nesting that is read; real replies have less than ten levels. */
const MAX_DEPTH = 64;
/** Most values that are read; real replies have less than a thousand. As objects they take far more than their text. */
const MAX_VALUES = 100_000;
const COMMA = 0x2c;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The JSON value of a body, a byte order mark tolerated; undefined when it is none, nests too deep or has too many values. */
export function parseJsonBody(bytes: Buffer): JsonValue | undefined {
  if (isTooMuch(bytes)) return undefined;
  try {
    const text = bytes.toString('utf8');
    return parseOwnJson(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch {
    return undefined;
  }
}

/** Runs over the brackets outside of strings; strings are skipped whole, so that 256 MiB of Base64 cost little. */
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

/** Index of the quote that closes the string opened at `start`; -1 when none does, which no JSON parser accepts. */
function endOfString(bytes: Buffer, start: number): number {
  for (let at = bytes.indexOf(QUOTE, start + 1); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
    let slashes = 0;
    while (bytes[at - 1 - slashes] === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return -1;
}
