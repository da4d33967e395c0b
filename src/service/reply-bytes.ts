import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Bytes of a reply that are in memory at most, until the whole of it is wanted. */
const IN_MEMORY = 4 * 1024 * 1024;
/** Tiny chunks are copied together: as objects of their own they would take a hundred times their bytes. */
const SMALLEST_BLOCK = 1024;
const LARGEST_BLOCK = 64 * 1024;
/** Of a reply that did not come whole, this much is enough to tell a person what it was. */
const BEGINNING = 1024 * 1024;

/**
 * Collects a reply of unknown length. Beyond a few megabytes it waits in a file without a name, so that a reply that
 * never ends costs disk and not memory. Without a usable disk it stays in memory: a paid reply is worth more.
 */
export class ReplyBytes {
  #blocks: Buffer[] = [];
  /** Blocks that went to the disk are filled again: the collector of garbage would be late. */
  #spare: Buffer[] = [];
  #room = 0;
  #held = 0;
  #file: FileHandle | undefined;
  #onDisk = 0;
  #diskWorks = true;

  get size(): number {
    return this.#onDisk + this.#held;
  }

  /** Keeps a copy; undefined when the next chunk may come at once. */
  add(chunk: Uint8Array): Promise<void> | undefined {
    this.#keep(chunk);
    return this.#held >= IN_MEMORY && this.#diskWorks ? this.#flush() : undefined;
  }

  /** Everything. Rejects when the disk does not give it back. */
  async whole(): Promise<Buffer> {
    return this.#first(this.size);
  }

  /** Everything when it is little, else a beginning. Rejects when the disk does not give it back. */
  async beginning(): Promise<Buffer> {
    return this.#first(this.#onDisk === 0 ? this.size : BEGINNING);
  }

  /** Lets go of the file. Never rejects. */
  async close(): Promise<void> {
    await this.#file?.close().catch(() => undefined);
  }

  #keep(chunk: Uint8Array): void {
    for (let from = 0; from < chunk.length;) {
      const left = chunk.length - from;
      if (this.#room === 0) {
        const wanted = Math.min(LARGEST_BLOCK, Math.max(SMALLEST_BLOCK, left, this.#held));
        const block = this.#spare.pop() ?? Buffer.allocUnsafeSlow(wanted);
        this.#blocks.push(block);
        this.#room = block.length;
      }
      const block = this.#blocks.at(-1) as Buffer;
      const part = chunk.subarray(from, from + this.#room);
      block.set(part, block.length - this.#room);
      this.#room -= part.length;
      from += part.length;
    }
    this.#held += chunk.length;
  }

  async #flush(): Promise<void> {
    try {
      this.#file ??= await namelessFile();
      let left = this.#held;
      for (const block of this.#blocks) {
        const bytes = block.subarray(0, left);
        await writeAll(this.#file, bytes, this.#onDisk + this.#held - left);
        left -= bytes.length;
      }
      this.#onDisk += this.#held;
      this.#spare.push(...this.#blocks);
      this.#blocks = [];
      this.#room = this.#held = 0;
    } catch {
      this.#diskWorks = false;
    }
  }

  #inMemory(): Buffer {
    return Buffer.concat(this.#blocks, this.#held);
  }

  async #first(length: number): Promise<Buffer> {
    if (this.#onDisk === 0) return this.#inMemory().subarray(0, length);
    const bytes = Buffer.allocUnsafe(length);
    const fromDisk = Math.min(length, this.#onDisk);
    for (let done = 0; done < fromDisk;) {
      const read = await this.#file?.read(bytes, done, fromDisk - done, done);
      if (!read?.bytesRead) throw new Error('The disk lost a part of the reply.');
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

/** Open and without a name: gone with the process, whatever ends it. */
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
