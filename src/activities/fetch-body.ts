import { createHash } from 'node:crypto';
import { type Readable } from 'node:stream';
import { type DownloadBounds, type DownloadProblem, type DownloadProblemKind } from '../domain/download';
import { ArtifactError, type StagedArtifact } from '../stores/artifacts/artifact-store';
import { isPage, mayBeVideo, notVideo } from '../stores/artifacts/video-check';

interface BodyOptions {
  readonly bounds: DownloadBounds;
  /** Milliseconds left for this attempt. */
  readonly remainingMs: number;
  readonly signal: AbortSignal;
  readonly onBytes: (position: number) => void;
  /** Removes keys and signed URLs from a page. */
  readonly cleanPage: (bytes: Buffer) => Promise<Buffer>;
}

/** Number of leading bytes that show whether a body is a page or begins like a video. */
const HEAD_BYTES = 64;
/** Number of bytes that identify a transport stream: three of its packets. */
const LONG_HEAD_BYTES = 512;
/** How many bytes of a page are kept for a person to inspect. */
const KEPT_BYTES = 64 * 1024;
/** How many more bytes are read but not kept, because a key that was cut in half would not be recognized. */
const CUT_BYTES = 4 * 1024;

/** The part of a non-video body that was read. */
interface Page {
  readonly problem: DownloadProblem;
  readonly chunks: Buffer[];
  size: number;
}

/**
 * Streams a body into its part, which may already contain the beginning. Returns undefined when the body has ended. If
 * the first bytes are not a video, stops early and keeps what was read in the part.
 */
export async function readBody(
  body: Readable,
  part: StagedArtifact,
  { bounds, remainingMs, signal, onBytes, cleanPage }: BodyOptions,
): Promise<DownloadProblem | undefined> {
  const guard = new PaceGuard(body, bounds, remainingMs);
  const abort = () => body.destroy(new Error('cancelled'));
  signal.addEventListener('abort', abort, { once: true });
  // The beginning of a resumed part was already checked.
  let head = part.position === 0 ? Buffer.alloc(0) : undefined;
  let page: Page | undefined;
  try {
    for await (const chunk of body) {
      let bytes = chunk as Buffer;
      guard.count(bytes.length);
      if (head !== undefined) {
        head = bytes = Buffer.concat([head, bytes]);
        if (head.length < HEAD_BYTES) continue;
        page = pageIn(head);
        if (page?.problem.kind === 'no_picture' && head.length < LONG_HEAD_BYTES) {
          page = undefined;
          continue;
        }
        head = undefined;
      }
      if ((page?.size ?? part.position) + bytes.length > bounds.maxBytes) return tooLarge(bounds);
      if (page !== undefined) {
        page.chunks.push(bytes);
        page.size += bytes.length;
        if (page.size >= KEPT_BYTES + CUT_BYTES) break;
        continue;
      }
      await part.write(bytes);
      onBytes(part.position);
    }
    if (head !== undefined) {
      page = pageIn(head);
      if (page === undefined) await part.write(head);
      else page.chunks.push(head);
    }
    return page === undefined ? undefined : await keepPage();
  } catch (error) {
    if (error instanceof ArtifactError) return { kind: 'storage', message: error.message };
    if (page !== undefined) return await keepPage();
    return { kind: 'network', message: guard.verdict ?? 'The connection was lost during the download.' };
  } finally {
    guard.stop();
    signal.removeEventListener('abort', abort);
    body.destroy();
  }

  /** Cleans the whole page before any byte is written, because a key may span two chunks. */
  async function keepPage(): Promise<DownloadProblem> {
    const { problem, chunks } = page!;
    await part.write(await keptOfPage(Buffer.concat(chunks), cleanPage));
    return problem;
  }
}

/** Cleans a page and returns the part of it to keep. */
export async function keptOfPage(page: Buffer, cleanPage: BodyOptions['cleanPage']): Promise<Buffer> {
  const cleaned = await cleanPage(page.subarray(0, KEPT_BYTES + CUT_BYTES));
  return cleaned.subarray(0, KEPT_BYTES);
}

/**
 * Returns a problem if the bytes do not begin like a video. The video may later replace a page, but other content is
 * final.
 */
export function notVideoProblem(head: Buffer): DownloadProblem | undefined {
  if (mayBeVideo(head)) return undefined;
  return { kind: isPage(head) ? 'not_video' : 'no_picture', message: notVideo(head) };
}

function pageIn(head: Buffer): Page | undefined {
  const problem = notVideoProblem(head);
  return problem === undefined ? undefined : { problem, chunks: [], size: 0 };
}

export const tooLarge = ({ maxBytes }: DownloadBounds): DownloadProblem => ({
  kind: 'too_large',
  message: `The video is larger than this worker's limit of ${maxBytes} bytes.`,
});

/**
 * Ends a body that takes too long in total or delivers too few bytes per minute. An idle timeout alone would never stop
 * a slow trickle of bytes.
 */
class PaceGuard {
  verdict: string | undefined;
  #inWindow = 0;
  readonly #deadline: NodeJS.Timeout;
  readonly #pace: NodeJS.Timeout;

  constructor(body: Readable, bounds: DownloadBounds, remainingMs: number) {
    const end = (verdict: string) => {
      this.verdict = verdict;
      body.destroy(new Error(verdict));
    };
    this.#deadline = setTimeout(() => end('The download attempt took too long.'), Math.max(0, remainingMs));
    this.#pace = setInterval(() => {
      if (this.#inWindow < bounds.minBytesPerRateWindow) end('The download was too slow.');
      this.#inWindow = 0;
    }, bounds.rateWindowMs);
  }

  count(bytes: number): void {
    this.#inWindow += bytes;
  }

  stop(): void {
    clearTimeout(this.#deadline);
    clearInterval(this.#pace);
  }
}

/** Progress that an attempt passes to the next one in its heartbeat. Contains no URLs or paths. */
export interface DownloadProgress {
  readonly v: 1;
  /** Digest of the activity execution. Only this execution can resume the part. */
  readonly owner: string;
  /**
   * Milliseconds that count against the service: all attempts and the pauses after them since the last byte was
   * received, except the time during which no worker had the account.
   */
  windowMs: number;
  /** Digest of the location that the part's bytes came from. */
  location: string | null;
  /** Strong ETag of the part's bytes. Without one, the part cannot be resumed. */
  etag: string | null;
  /** Length of the entire file, if the service reported it. */
  length: number | null;
  /** Bytes in the part. */
  position: number;
  /** Attempts by workers without the account. */
  elsewhere: number;
  fault: DownloadProblemKind | null;
  sameFault: number;
}

export function digestOf(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
}

export function freshProgress(owner: string, windowMs = 0): DownloadProgress {
  return {
    v: 1,
    owner,
    windowMs,
    location: null,
    etag: null,
    length: null,
    position: 0,
    elsewhere: 0,
    fault: null,
    sameFault: 0,
  };
}

/** Returns the last attempt's progress, or undefined if there is none or it belongs to another execution. */
export function readProgress(details: unknown, owner: string): DownloadProgress | undefined {
  if (typeof details !== 'object' || details === null) return undefined;
  const given = details as Partial<DownloadProgress>;
  if (given.v !== 1 || given.owner !== owner || !Number.isFinite(given.windowMs)) return undefined;
  return { ...freshProgress(owner), ...given, owner, v: 1 };
}

/** Counts consecutive faults of the same kind. A worker without the account does not count as a download fault. */
export function noteFault(progress: DownloadProgress, kind: DownloadProblemKind): void {
  if (kind === 'account_not_configured') {
    progress.elsewhere += 1;
    return;
  }
  progress.sameFault = progress.fault === kind ? progress.sameFault + 1 : 1;
  progress.fault = kind;
}

/**
 * Returns a part's owner, which identifies one execution, one location and one entity. Bytes from two entities are
 * never mixed in one part (failure model: Foreign bytes).
 */
export function partOwner(owner: string, location: string, etag: string | null): string {
  return digestOf(owner, location, etag ?? '');
}
