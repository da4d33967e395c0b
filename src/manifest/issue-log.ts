import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { type ManifestIssue, SHOWN_ISSUES } from '../domain/campaign/plan';
import { type ArtifactRef } from '../domain/media';
import { type PlanSink } from './page-writer';

/** All issues of a manifest: the first ones in memory, every one as a line of an artifact. */
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
      // A store that fails does not read on: then its error is what happened.
      if (!stream.write(`${JSON.stringify(issue)}\n`)) await Promise.race([once(stream, 'drain'), stored]);
    }
  }

  /** The artifact of all of them; null when there is none. */
  async finish(): Promise<ArtifactRef | null> {
    if (this.#file === undefined) return null;
    this.#file.stream.end();
    return this.#file.stored;
  }

  /** Lets go of what was not finished. */
  async abandon(): Promise<void> {
    this.#file?.stream.destroy();
    await this.#file?.stored.catch(() => undefined);
  }

  #begin(): { readonly stream: PassThrough; readonly stored: Promise<ArtifactRef> } {
    const stream = new PassThrough();
    const stored = this.sink.putStream(stream, { mediaType: 'application/jsonl' });
    // Whoever adds or finishes hears of it.
    stored.catch(() => undefined);
    return { stream, stored };
  }
}
