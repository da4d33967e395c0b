import { createHmac, timingSafeEqual } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type ImageSpec, type MediaSpec, type VideoSpec } from './media-spec';
import { renderMedia } from './render-video';
import { hexDigest } from './request-log';

/** Rendered bytes and their strong ETag. */
export interface RenderedMedia {
  bytes: Buffer;
  etag: string;
}

const cacheBytes = 192 * 1024 * 1024;

/**
 * Renders media on first use and caches recently used media, so that polls and range requests do not encode them again.
 * Compiled code renders in a worker thread; TypeScript under a test runner renders in the process itself.
 */
export class MediaStore {
  private cache = new Map<string, RenderedMedia>();
  private cached = 0;
  private open = new Map<string, Promise<RenderedMedia>>();
  private thread: Worker | undefined;
  private jobs = new Map<number, { resolve: (bytes: Buffer) => void; reject: (error: Error) => void }>();
  private jobCount = 0;

  get(spec: MediaSpec): Promise<RenderedMedia> {
    const key = JSON.stringify(spec);
    const ready = this.cache.get(key);
    if (ready !== undefined) {
      this.cache.delete(key);
      this.cache.set(key, ready);
      return Promise.resolve(ready);
    }
    const running = this.open.get(key) ?? this.make(key, spec);
    this.open.set(key, running);
    return running;
  }

  /** Starts rendering before a request needs the media. */
  warm(spec: MediaSpec): void {
    this.get(spec).catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.thread?.terminate();
    for (const job of this.jobs.values()) job.reject(new Error('The sandbox was closed.'));
    this.jobs.clear();
  }

  private async make(key: string, spec: MediaSpec): Promise<RenderedMedia> {
    try {
      const bytes = await this.render(spec);
      const media = { bytes, etag: `"${hexDigest(bytes).slice(0, 32)}"` };
      this.cache.set(key, media);
      this.cached += bytes.length;
      for (const [oldKey, old] of this.cache) {
        if (this.cached <= cacheBytes || oldKey === key) break;
        this.cache.delete(oldKey);
        this.cached -= old.bytes.length;
      }
      return media;
    } finally {
      this.open.delete(key);
    }
  }

  private async render(spec: MediaSpec): Promise<Buffer> {
    const file = join(__dirname, 'render-thread.js');
    if (!existsSync(file)) {
      return renderMedia(spec);
    }
    this.thread ??= this.start(file);
    const id = ++this.jobCount;
    const result = new Promise<Buffer>((resolve, reject) => this.jobs.set(id, { resolve, reject }));
    this.thread.postMessage({ id, spec });
    return result;
  }

  private start(file: string): Worker {
    const thread = new Worker(file);
    thread.unref();
    thread.on('message', (reply: { id: number; bytes?: Uint8Array; error?: string }) => {
      const job = this.jobs.get(reply.id);
      this.jobs.delete(reply.id);
      if (reply.bytes !== undefined) job?.resolve(Buffer.from(reply.bytes));
      else job?.reject(new Error(reply.error));
    });
    thread.on('error', (error: Error) => {
      for (const job of this.jobs.values()) job.reject(error);
      this.jobs.clear();
      this.thread = undefined;
    });
    return thread;
  }
}

/** An image that can be downloaded under {base_url}/generated/ until it expires (contract 2.5). */
export interface GeneratedFile {
  name: string;
  spec: ImageSpec;
  /** Unix time in milliseconds. */
  createdAt: number;
}

/** Signs and checks the expiring links of the media origin. */
export class LinkSigner {
  constructor(private readonly secret: string) {}

  /** Returns the query string for a path, valid until `expires` (Unix time in milliseconds). */
  sign(path: string, expires: number): string {
    return `expires=${expires}&signature=${this.signature(path, expires)}`;
  }

  check(path: string, query: URLSearchParams, now: number): 'valid' | 'expired' | 'invalid' {
    const expires = Number(query.get('expires'));
    const given = Buffer.from(query.get('signature') ?? '');
    const wanted = Buffer.from(this.signature(path, expires));
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return 'invalid';
    return expires >= now ? 'valid' : 'expired';
  }

  private signature(path: string, expires: number): string {
    return createHmac('sha256', this.secret).update(`${path}\n${expires}`).digest('base64url');
  }
}

type Shape = Pick<VideoSpec, 'resolution' | 'aspectRatio'>;

const shortSides: Record<string, number> = { '480p': 480, '720p': 720, '1080p': 1080, '4K': 2160 };
const EVERY_RATIO = ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9'];

/** Every resolution with every aspect ratio; no two have the same size. */
const shapes = Object.keys(shortSides).flatMap((resolution) =>
  EVERY_RATIO.map((aspectRatio): Shape => ({ resolution, aspectRatio })),
);

/** Returns the published videos API's `size` for a resolution and an aspect ratio: WIDTHxHEIGHT, both even. */
export function nominalSize({ resolution, aspectRatio }: Shape): string {
  const short = shortSides[resolution] ?? 480;
  // An aspect ratio without numbers is treated as 16:9.
  const [, width = 16, height = 9] = /^([1-9]\d*):([1-9]\d*)$/.exec(aspectRatio)?.map(Number) ?? [];
  const long = Math.round((short * Math.max(width, height)) / Math.min(width, height) / 2) * 2;
  return width >= height ? `${long}x${short}` : `${short}x${long}`;
}

/** Returns the resolution and aspect ratio of a `size`, or undefined if nothing matches. */
export function readNominalSize(size: string): Shape | undefined {
  return shapes.find((shape) => nominalSize(shape) === size);
}

/** Returns the sizes for these resolutions and aspect ratios. A missing list means all values. */
export function nominalSizes(resolutions?: readonly string[], aspectRatios?: readonly string[]): string[] {
  return shapes
    .filter((one) => resolutions?.includes(one.resolution) ?? true)
    .filter((one) => aspectRatios?.includes(one.aspectRatio) ?? true)
    .map(nominalSize);
}
