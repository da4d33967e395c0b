import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { sha256 } from './hash';
import { type MediaSpec } from './media-spec';
import { renderMedia } from './render-media';

/** Rendered bytes and their strong ETag. */
export interface RenderedMedia {
  bytes: Buffer;
  etag: string;
}

const cacheBytes = 192 * 1024 * 1024;

/**
 * Renders media on first need and keeps the latest, so that polls and range requests never encode again.
 * Compiled, it renders in a thread; as TypeScript under a test runner in the process itself.
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

  /** Starts rendering ahead of the request that will need it. */
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
      const media = { bytes, etag: `"${sha256(bytes).slice(0, 32)}"` };
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
