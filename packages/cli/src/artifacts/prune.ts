import { mapConcurrently } from 'temporal-media/internal/domain/map-concurrently';
import { ArtifactError, STORED_AGAIN_MS } from 'temporal-media/internal/stores/artifacts/artifact-store';
import { SNIFF_BYTES, sniffMedia } from 'temporal-media/internal/stores/artifacts/media-type';
import { openArtifactStore } from 'temporal-media/internal/stores/open-stores';
import { type ArtifactStore } from 'temporal-media/stores';
import { type MediaConfig } from 'temporal-media/worker';
import { type Connected } from '../shared/connect';
import { type CommandContext } from '../shared/context';
import { requireRetention } from '../shared/retention';
import { readJournal, requireJournal, requireOnlyJournal, WorkflowTexts } from './referenced-texts';

/** Page size when listing names. */
const LISTED = 1_000;
/**
 * Page size when removing artifacts. It is small, because an artifact that is stored again between listing and removal
 * is removed anyway.
 */
const REMOVED = 100;
const AT_ONCE = 8;

interface Pruned {
  readonly artifacts: number;
  readonly removed: number;
  readonly removedBytes: number;
  readonly keptNamed: number;
  readonly keptYoung: number;
  /** Downloads whose bytes were rejected. They are not artifacts. */
  readonly removedRejected: number;
  readonly removedRejectedBytes: number;
}

/**
 * Removes old, unreferenced artifacts from the MEDIA_ARTIFACTS store. When in doubt, it keeps an artifact: any text
 * that could be the artifact's name counts as a reference. @throws CliError when something that may reference an
 * artifact cannot be read
 */
export async function pruneArtifacts(
  { report }: CommandContext,
  connected: Connected,
  config: MediaConfig,
  olderThanMs: number,
  dryRun: boolean,
): Promise<void> {
  const journal = await requireJournal(config);
  await requireRetention(connected, olderThanMs, 'with their results.');
  const before = Date.now() - olderThanMs - STORED_AGAIN_MS;
  const store = await openArtifactStore(config);
  await requireOnlyJournal(connected, journal, store);

  const names = await storedNames(store);
  const unread: string[] = [];
  const sink = (text: string) => void unread.push(...names.markIn(text));
  const namespaces = new Set([connected.namespace, ...(await readJournal(journal, sink))]);
  const texts = [...namespaces].map((namespace) => new WorkflowTexts(connected.client, namespace, sink));
  for (const one of texts) await one.read();
  await followNames(store, names, unread);
  // Also reads workflows that have started since the first pass.
  for (const one of texts) await one.read();
  await followNames(store, names, unread);

  const unnamed = await removeUnnamed(store, names, before, dryRun);
  const rejected = await store.pruneRejected?.({ before: Date.now() - olderThanMs, dryRun });
  const pruned: Pruned = {
    ...unnamed,
    removedRejected: rejected?.removed ?? 0,
    removedRejectedBytes: rejected?.removedBytes ?? 0,
  };
  const { removedRejected, removedRejectedBytes } = pruned;
  const { artifacts, removed, removedBytes, keptNamed, keptYoung } = pruned;
  report.say(
    `${dryRun ? 'Would remove' : 'Removed'} ${removed} of ${artifacts} artifacts (${(removedBytes / 1e6).toFixed(1)} MB); kept ${keptYoung} that are too recent and ${keptNamed} that are still referenced.`,
  );
  if (removedRejected > 0)
    report.say(
      `${dryRun ? 'Would remove' : 'Removed'} rejected bytes from ${removedRejected} downloads (${(removedRejectedBytes / 1e6).toFixed(1)} MB).`,
    );
  report.reply({ ok: true, data: { dryRun, ...pruned } });
}

async function storedNames(store: ArtifactStore): Promise<StoredNames> {
  const names = new StoredNames();
  let after: string | null = null;
  for (;;) {
    const page = await store.list(after, LISTED);
    for (const { sha256 } of page) names.add(sha256);
    const last = page.at(-1);
    if (last === undefined) return names;
    after = last.sha256;
  }
}

/** Marks artifacts that other marked artifacts reference: campaign pages list their inputs and results. */
async function followNames(store: ArtifactStore, names: StoredNames, unread: string[]): Promise<void> {
  while (unread.length > 0) {
    const found: string[] = [];
    await mapConcurrently(unread.splice(0), AT_ONCE, async (sha256) => {
      for await (const text of textsOf(store, sha256)) found.push(...names.markIn(text));
    });
    unread.push(...found);
  }
}

/** Yields an artifact's text in overlapping pieces. Stops immediately if the artifact is media. */
async function* textsOf(store: ArtifactStore, sha256: string): AsyncGenerator<string> {
  let head = Buffer.alloc(0);
  let text = '';
  try {
    for await (const chunk of (await store.read({ sha256 })) as AsyncIterable<Buffer>) {
      if (head.length < SNIFF_BYTES) {
        head = Buffer.concat([head, chunk]).subarray(0, SNIFF_BYTES);
        if (head.length === SNIFF_BYTES && sniffMedia(head) !== undefined) return;
      }
      text = openEnd(text) + chunk.toString('latin1');
      yield text;
    }
  } catch (error) {
    // Another process removed the artifact after it was listed.
    if (!(error instanceof ArtifactError && error.code === 'not_found')) throw error;
  }
}

async function removeUnnamed(
  store: ArtifactStore,
  names: StoredNames,
  before: number,
  dryRun: boolean,
): Promise<Omit<Pruned, 'removedRejected' | 'removedRejectedBytes'>> {
  const counts = { artifacts: 0, removed: 0, removedBytes: 0, keptNamed: 0, keptYoung: 0 };
  let after: string | null = null;
  for (;;) {
    const page = await store.list(after, REMOVED);
    const last = page.at(-1);
    if (last === undefined) return counts;
    after = last.sha256;
    await mapConcurrently(page, AT_ONCE, async ({ sha256, bytes, storedAt }) => {
      counts.artifacts += 1;
      // An unparsable time counts as recent.
      if (!(Date.parse(storedAt) < before)) counts.keptYoung += 1;
      else if (!names.isUnnamed(sha256)) counts.keptNamed += 1;
      else {
        if (!dryRun) await store.remove(sha256);
        counts.removed += 1;
        counts.removedBytes += bytes;
      }
    });
  }
}

/** Hex digits in an artifact's name, and the bytes that they encode. */
const DIGITS = 64;
const BYTES = DIGITS / 2;

/** A store's artifact names, each with a flag that shows whether anything references it. Uses 33 bytes per artifact. */
export class StoredNames {
  #names = Buffer.alloc(BYTES * 1024);
  #named = new Uint8Array(1024);
  #count = 0;

  /** @param sha256 must sort after every name already added, as names in a store's listing do */
  add(sha256: string): void {
    if (this.#count === this.#named.length) {
      this.#names = Buffer.concat([this.#names, Buffer.alloc(this.#names.length)]);
      const named = new Uint8Array(this.#count * 2);
      named.set(this.#named);
      this.#named = named;
    }
    this.#names.write(sha256, this.#count * BYTES, 'hex');
    this.#count += 1;
  }

  /** Marks the artifacts that this text mentions. @returns the newly marked ones */
  markIn(text: string): string[] {
    const found: string[] = [];
    for (const sha256 of possibleNames(text)) {
      const index = this.#find(sha256);
      if (index === undefined || this.#named[index] === 1) continue;
      this.#named[index] = 1;
      found.push(sha256);
    }
    return found;
  }

  /** Whether an artifact was added and nothing references it. */
  isUnnamed(sha256: string): boolean {
    const index = this.#find(sha256);
    return index !== undefined && this.#named[index] === 0;
  }

  #find(sha256: string): number | undefined {
    const wanted = Buffer.from(sha256, 'hex');
    for (let [low, high] = [0, this.#count]; low < high;) {
      const middle = (low + high) >>> 1;
      const at = middle * BYTES;
      const order = wanted.compare(this.#names, at, at + BYTES);
      if (order === 0) return middle;
      if (order < 0) high = middle;
      else low = middle + 1;
    }
    return undefined;
  }
}

/** Returns the last part of a piece of text. Prepend it to the next piece to find names that span both. */
export function openEnd(text: string): string {
  return text.slice(-(DIGITS - 1));
}

/**
 * Yields every run of 64 lowercase hexadecimal digits, including those inside longer runs, because the text before a
 * name can end in hexadecimal digits, such as `\u000a` in JSON.
 */
function* possibleNames(text: string): Generator<string> {
  for (const [row] of text.matchAll(/[0-9a-f]{64,}/g))
    for (let at = 0; at + DIGITS <= row.length; at += 1) yield row.slice(at, at + DIGITS);
}
