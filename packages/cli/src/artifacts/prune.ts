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

/** Artifacts per page when the names are listed. */
const LISTED = 1_000;
/**
 * Artifacts per page when they are removed. Small, because an artifact that is stored again after it was listed is not
 * noticed.
 */
const REMOVED = 100;
const AT_ONCE = 8;

interface Pruned {
  readonly artifacts: number;
  readonly removed: number;
  readonly removedBytes: number;
  readonly keptNamed: number;
  readonly keptYoung: number;
  /** Refused bytes. They are not artifacts. */
  readonly removedRejected: number;
  readonly removedRejectedBytes: number;
}

/**
 * Removes old artifacts that nothing names from the store of MEDIA_ARTIFACTS. If in doubt, an artifact counts as named:
 * anything that could be an artifact's name counts. @throws CliError when anything that may name an artifact cannot be
 * read
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
  // Whatever was started while the rest was read.
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
    `${dryRun ? 'Would remove' : 'Removed'} ${removed} of ${artifacts} artifacts (${(removedBytes / 1e6).toFixed(1)} MB); kept ${keptYoung} that are younger and ${keptNamed} that an open workflow, a campaign or the journal references.`,
  );
  if (removedRejected > 0)
    report.say(
      `${dryRun ? 'Would remove' : 'Removed'} refused bytes of ${removedRejected} downloads (${(removedRejectedBytes / 1e6).toFixed(1)} MB).`,
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

/** Marks the artifacts that marked artifacts name: campaign pages name their inputs and results. */
async function followNames(store: ArtifactStore, names: StoredNames, unread: string[]): Promise<void> {
  while (unread.length > 0) {
    const found: string[] = [];
    await mapConcurrently(unread.splice(0), AT_ONCE, async (sha256) => {
      for await (const text of textsOf(store, sha256)) found.push(...names.markIn(text));
    });
    unread.push(...found);
  }
}

/** The text of an artifact, in overlapping pieces. For media, only the beginning. */
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
    // Removed by someone else after it was listed.
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
      // A time that cannot be read counts as now.
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

/** The artifacts of a store, by name, and whether anything names each one. Takes 33 bytes of memory per artifact. */
export class StoredNames {
  #names = Buffer.alloc(BYTES * 1024);
  #named = new Uint8Array(1024);
  #count = 0;

  /** @param sha256 sorts after every name added before, which is the order of a store's listing */
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

  /** Marks the artifacts that a text names. @returns those that nothing has named before */
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

  /** Whether an artifact was added and nothing names it. */
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

/** The end of a text, to be prepended to the next one, so that a name that spans both is found. */
export function openEnd(text: string): string {
  return text.slice(-(DIGITS - 1));
}

/**
 * Every 64 lowercase hexadecimal digits in a row, also inside longer rows: the text before a name may end in such
 * digits, such as `\u000a` in JSON.
 */
function* possibleNames(text: string): Generator<string> {
  for (const [row] of text.matchAll(/[0-9a-f]{64,}/g))
    for (let at = 0; at + DIGITS <= row.length; at += 1) yield row.slice(at, at + DIGITS);
}
