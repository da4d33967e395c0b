import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { otherwise } from '../domain/bug';
import { type ManifestIssue, PAGE_ROWS, type PlanIndex, SHOWN_ISSUES } from '../domain/campaign/plan';
import { type CampaignPage, type CampaignRow } from '../domain/campaign/row';
import { type ArtifactRef } from '../domain/request';
import { type ArtifactStore } from '../stores/artifacts/artifact-store';

/** The store for pages. A dry run passes a store that discards them. */
export type PlanSink = Pick<ArtifactStore, 'putBuffer' | 'putStream'>;

/** How many pages are written concurrently. One at a time would be slow, because each write waits for the disk. */
const AT_ONCE = 8;
/** A page is closed early after this many characters, so that long prompts do not make it too large for readers. */
const MAX_PAGE_CHARACTERS = 2 * 1024 * 1024;

const JSON_TYPE = { mediaType: 'application/json' };

/** Writes rows to pages of {@link PAGE_ROWS}, then writes the index. Keeps at most eight pages in memory. */
export class PageWriter {
  readonly #pages: { sha256: string; rows: number }[] = [];
  readonly #open = new Set<Promise<void>>();
  #rows: string[] = [];
  #characters = 0;
  #number = 0;
  #planned = 0;
  #failure: { readonly error: unknown } | undefined;

  constructor(private readonly sink: PlanSink) {}

  get planned(): number {
    return this.#planned;
  }

  async add(row: CampaignRow): Promise<void> {
    const text = JSON.stringify(row);
    this.#rows.push(text);
    this.#characters += text.length;
    this.#planned += 1;
    if (this.#rows.length >= PAGE_ROWS || this.#characters >= MAX_PAGE_CHARACTERS) await this.#close();
  }

  /** Writes the index. Resolves when everything is in the store. */
  async finish(): Promise<{ readonly index: ArtifactRef; readonly pages: number }> {
    if (this.#rows.length > 0) await this.#close();
    await this.settle();
    if (this.#failure !== undefined) throw this.#failure.error;
    const index: PlanIndex = { v: 1, pages: this.#pages };
    return { index: await this.sink.putBuffer(jsonBytes(index), JSON_TYPE), pages: this.#pages.length };
  }

  /** Waits until all writes have ended, successfully or not. */
  async settle(): Promise<void> {
    await Promise.all(this.#open);
  }

  async #close(): Promise<void> {
    const page = this.#number++;
    const rows = this.#rows;
    // Concatenate the rows, because they are already serialized.
    const envelope: Omit<CampaignPage, 'rows'> = { v: 1, page };
    const text = `${JSON.stringify(envelope).slice(0, -1)},"rows":[${rows.join(',')}]}`;
    this.#rows = [];
    this.#characters = 0;
    const write = this.#write(page, rows.length, Buffer.from(text)).finally(() => this.#open.delete(write));
    this.#open.add(write);
    if (this.#open.size >= AT_ONCE) await Promise.race(this.#open);
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Writes a page. Never rejects: the next `add` or `finish` throws the failure. */
  async #write(page: number, rows: number, bytes: Buffer): Promise<void> {
    try {
      const { sha256 } = await this.sink.putBuffer(bytes, JSON_TYPE);
      this.#pages[page] = { sha256, rows };
    } catch (error) {
      this.#failure ??= { error };
    }
  }
}

export async function emptyIndex(sink: PlanSink): Promise<ArtifactRef> {
  const index: PlanIndex = { v: 1, pages: [] };
  return sink.putBuffer(jsonBytes(index), JSON_TYPE);
}

function jsonBytes(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

/** Collects a manifest's issues: the first ones in memory, and all of them as lines of an artifact. */
export class IssueLog {
  readonly #first: ManifestIssue[] = [];
  #file: { readonly stream: PassThrough; readonly stored: Promise<ArtifactRef> } | undefined;

  constructor(private readonly sink: PlanSink) {}

  get first(): readonly ManifestIssue[] {
    return this.#first;
  }

  async add(issues: readonly ManifestIssue[]): Promise<void> {
    for (const issue of issues) {
      if (this.#first.length < SHOWN_ISSUES) this.#first.push(issue);
      this.#file ??= this.#begin();
      const { stream, stored } = this.#file;
      // If the store fails, reading stops and `stored` rejects with its error.
      if (!stream.write(`${JSON.stringify(issue)}\n`)) await Promise.race([once(stream, 'drain'), stored]);
    }
  }

  /** Returns the artifact with all issues; null if there are none. */
  async finish(): Promise<ArtifactRef | null> {
    if (this.#file === undefined) return null;
    this.#file.stream.end();
    return this.#file.stored;
  }

  async abandon(): Promise<void> {
    this.#file?.stream.destroy();
    await this.#file?.stored.catch(otherwise(undefined));
  }

  #begin(): { readonly stream: PassThrough; readonly stored: Promise<ArtifactRef> } {
    const stream = new PassThrough();
    const stored = this.sink.putStream(stream, { mediaType: 'application/jsonl' });
    // Avoids an unhandled rejection; `add` and `finish` still throw the error.
    stored.catch(() => undefined);
    return { stream, stored };
  }
}
