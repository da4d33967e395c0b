import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { type Dispatcher, errors } from 'undici';
import { otherwise, throwBug } from '../domain/bug';
import { type JsonValue, parseOwnJson } from '../domain/json';
import { type HeaderValues } from './reply-headers';

export interface CollectedReply {
  readonly status: number;
  readonly headers: HeaderValues;
  readonly body: BoundedBody;
}

/** Bodies of up to this many bytes are collected in memory. The remainder of a longer body is read as a stream. */
const SHORT = 64 * 1024;

/**
 * Sends a request and collects its reply without a stream, which would double the cost of thousands of short polls per
 * second. Rejects if no reply begins. A failure inside the body is reported in `body.end`.
 */
export function collectReply(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  limits: BodyLimits,
  signal?: AbortSignal,
): Promise<CollectedReply> {
  return new Promise((resolve, reject) => {
    const handler = new CollectingHandler(limits, resolve, reject);
    if (signal === undefined) {
      dispatcher.dispatch(request, handler);
      return;
    }
    const abort = (): void => handler.abort();
    handler.onSettled = () => signal.removeEventListener('abort', abort);
    signal.addEventListener('abort', abort, { once: true });
    dispatcher.dispatch(request, handler);
  });
}

class CollectingHandler implements Dispatcher.DispatchHandler {
  onSettled: () => void = () => undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #aborted = false;
  #status = 0;
  #headers: HeaderValues = {};
  #chunks: Buffer[] = [];
  #size = 0;
  #endsAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #late = false;
  #long: Readable | undefined;

  constructor(
    private readonly limits: BodyLimits,
    private readonly resolve: (reply: CollectedReply) => void,
    private readonly reject: (error: Error) => void,
  ) {}

  abort(): void {
    this.#aborted = true;
    this.#controller?.abort(new errors.RequestAbortedError());
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#aborted) this.abort();
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: HeaderValues): void {
    // Ignores interim replies (1xx).
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    this.#endsAt = performance.now() + this.limits.withinMs;
    this.#timer = setTimeout(() => {
      this.#late = true;
      controller.abort(new errors.BodyTimeoutError());
    }, this.limits.withinMs);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#long !== undefined) {
      if (!this.#long.push(chunk)) controller.pause();
      return;
    }
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size > Math.min(SHORT, this.limits.maxBytes)) this.#readOn(controller);
  }

  onResponseEnd(): void {
    if (this.#long === undefined) this.#settle('complete');
    else this.#long.push(null);
  }

  onResponseError(_controller: unknown, error: Error): void {
    if (this.#long !== undefined) this.#long.destroy(error);
    else if (this.#status !== 0) this.#settle(this.#late ? 'too_late' : 'broken');
    else {
      this.onSettled();
      this.reject(error);
    }
  }

  #settle(end: BoundedBody['end']): void {
    clearTimeout(this.#timer);
    this.onSettled();
    const [only] = this.#chunks;
    const bytes = only !== undefined && this.#chunks.length === 1 ? only : Buffer.concat(this.#chunks);
    this.resolve({ status: this.#status, headers: this.#headers, body: { bytes, end } });
  }

  /** Reads the remaining body as a stream, which pauses the socket while bytes are written to disk. */
  #readOn(controller: Dispatcher.DispatchController): void {
    clearTimeout(this.#timer);
    const long = new Readable({
      read: () => controller.resume(),
      destroy: (error, done) => {
        // Has no effect after the body is complete.
        controller.abort(error ?? new errors.RequestAbortedError());
        done(error);
      },
    });
    this.#long = long;
    for (const chunk of this.#chunks) long.push(chunk);
    this.#chunks = [];
    const withinMs = Math.max(0, this.#endsAt - performance.now());
    readBoundedBody(long, { ...this.limits, withinMs })
      .finally(() => this.onSettled())
      .then(
        (body) => this.resolve({ status: this.#status, headers: this.#headers, body }),
        (error: Error) => this.reject(error),
      );
  }
}

/** The largest replies to read, in bytes. A record may contain its result as a `data:` URL. */
export const MAX_REPLY_BYTES = {
  record: 16 * 1024 * 1024,
  videoCreate: 1024 * 1024,
  imageCall: 256 * 1024 * 1024,
  downloadError: 64 * 1024,
} as const;

/** How many bytes of a reply to keep in memory until `whole` reads all of it. */
const IN_MEMORY = 4 * 1024 * 1024;
/** How many bytes of an incomplete reply to keep: enough for a person to identify it. */
const BEGINNING = 1024 * 1024;

/**
 * Collects a reply of unknown length. Beyond a few megabytes it writes to an unlinked file, so an endless reply uses
 * disk instead of memory. If the disk is unusable, the reply stays in memory, because a paid reply must not be lost.
 */
export class ReplyBytes {
  /**
   * One block that doubles when full. Stored as separate objects, tiny chunks would take a hundred times their size.
   */
  #block = Buffer.alloc(0);
  #held = 0;
  #file: FileHandle | undefined;
  #onDisk = 0;
  #diskWorks = true;

  get size(): number {
    return this.#onDisk + this.#held;
  }

  /** Stores a copy. Returns undefined if the next chunk can be added without waiting. */
  add(chunk: Uint8Array): Promise<void> | undefined {
    this.#keep(chunk);
    return this.#held >= IN_MEMORY && this.#diskWorks ? this.#flush() : undefined;
  }

  /** Returns all bytes. Rejects if the disk cannot be read. */
  async whole(): Promise<Buffer> {
    return this.#first(this.size);
  }

  /** Returns all bytes if they are in memory, or else the first ones. Rejects if the disk cannot be read. */
  async beginning(): Promise<Buffer> {
    return this.#first(this.#onDisk === 0 ? this.size : BEGINNING);
  }

  /** Closes the file. Never rejects. */
  async close(): Promise<void> {
    await this.#file?.close().catch(otherwise(undefined));
  }

  #keep(chunk: Uint8Array): void {
    const size = this.#held + chunk.length;
    if (size > this.#block.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(size, 2 * this.#block.length));
      larger.set(this.#inMemory());
      this.#block = larger;
    }
    this.#block.set(chunk, this.#held);
    this.#held = size;
  }

  async #flush(): Promise<void> {
    try {
      this.#file ??= await namelessFile();
      await writeAll(this.#file, this.#inMemory(), this.#onDisk);
      this.#onDisk += this.#held;
      this.#held = 0;
    } catch (error) {
      throwBug(error);
      this.#diskWorks = false;
    }
  }

  #inMemory(): Buffer {
    return this.#block.subarray(0, this.#held);
  }

  async #first(length: number): Promise<Buffer> {
    if (this.#onDisk === 0) return this.#inMemory().subarray(0, length);
    const bytes = Buffer.allocUnsafe(length);
    const fromDisk = Math.min(length, this.#onDisk);
    for (let done = 0; done < fromDisk;) {
      const read = await this.#file?.read(bytes, done, fromDisk - done, done);
      if (!read?.bytesRead) throw new Error('The temporary file is missing part of the reply.');
      done += read.bytesRead;
    }
    this.#inMemory().copy(bytes, fromDisk);
    return bytes;
  }
}

async function writeAll(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;)
    done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
}

/** Opens an unlinked file. The operating system removes it when the process ends, however it ends. */
async function namelessFile(): Promise<FileHandle> {
  const path = join(tmpdir(), `.temporal-media-${randomUUID()}`);
  const handle = await open(path, 'wx+', 0o600);
  try {
    await unlink(path);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** As much of a reply's body as could be read. Returned, never thrown. */
export interface BoundedBody {
  /** The bytes read, up to the limit. For a long incomplete body, only its beginning. */
  readonly bytes: Buffer;
  /** `complete`, or the reason for an incomplete body. */
  readonly end: 'complete' | 'too_large' | 'too_late' | 'broken';
}

interface BodyLimits {
  readonly maxBytes: number;
  /** Time in milliseconds for the whole body to arrive. */
  readonly withinMs: number;
}

/** Reads a body up to a size and a time limit, then destroys the stream. */
export async function readBoundedBody(body: Readable, limits: BodyLimits): Promise<BoundedBody> {
  const kept = new ReplyBytes();
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    body.destroy();
  }, limits.withinMs);
  const cut = async (end: BoundedBody['end']): Promise<BoundedBody> => ({
    bytes: await kept.beginning().catch(otherwise(Buffer.alloc(0))),
    end,
  });
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      const room = limits.maxBytes - kept.size;
      await kept.add(chunk.length > room ? chunk.subarray(0, room) : chunk);
      if (chunk.length > room) return await cut('too_large');
    }
    return late ? await cut('too_late') : { bytes: await kept.whole(), end: 'complete' };
  } catch (error) {
    throwBug(error);
    return await cut(late ? 'too_late' : 'broken');
  } finally {
    clearTimeout(timer);
    // A destroyed body still emits its socket's error, which would otherwise be unhandled.
    body.on('error', () => undefined).destroy();
    await kept.close();
  }
}

/** The maximum nesting depth. Real replies have fewer than ten levels. */
const MAX_DEPTH = 64;
/**
 * The maximum number of values. Real replies have fewer than a thousand. Objects use far more memory than their text.
 */
const MAX_VALUES = 100_000;
const COMMA = 0x2c;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Parses a JSON body with or without a byte order mark. Undefined if it is invalid, too deep or too large. */
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

/** Counts brackets and commas outside strings. Skips whole strings, so 256 MiB of Base64 costs little. */
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

/** The index of the quote that closes the string opened at `start`, or -1 for invalid JSON. */
function endOfString(bytes: Buffer, start: number): number {
  for (let at = bytes.indexOf(QUOTE, start + 1); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
    let slashes = 0;
    while (bytes[at - 1 - slashes] === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return -1;
}

/** The largest allowed compression ratio. Replies have about 10, decompression bombs about 1000. */
const MAX_RATIO = 32;
const ALWAYS_ALLOWED = 256 * 1024;

/**
 * Decompresses a small API reply. Requests ask for no encoding, but some gateways compress anyway, and a paid reply
 * must not be lost because of that. Undefined for an unknown encoding, more than `maxBytes`, or a decompression bomb.
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
