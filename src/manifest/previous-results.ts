import { type ArtifactStore } from '../artifacts/artifact-store';
import { type ResultsRef } from '../domain/campaign/results';
import { ROW_OUTCOMES, type CampaignRowResult, type RowOutcome } from '../domain/campaign/row';
import { rowCreationKey } from '../domain/creation-key';
import { isTemporaryRejection } from './take-up';
import { keyHash, type KeyHash } from './key-hash';
import { KeyTable } from './key-table';
import { LeastRecent } from './least-recent';
import { readSegment, resultSegments } from './results';

/** What a row came to before, without its text. */
export interface PreviousRow {
  readonly outcome: RowOutcome;
  /** An attempt of it may have been bought. */
  readonly bought: boolean;
  /** Refused for now: the same call may be taken later. */
  readonly temporary: boolean;
  /** Whether the last line that is not `changed` has this content; undefined when there is none. */
  hasContent(content: string): boolean | undefined;
  /** That line belongs to a text that was bought after another one. */
  readonly rebought: boolean;
  /** The whole line that counts. */
  read(): Promise<CampaignRowResult>;
}

const BOUGHT = 0x10;
const TEMPORARY = 0x20;
const REBOUGHT = 0x40;
const HAS_BASIS = 0x80;
/** Bits of the outcome. */
const OUTCOME = 0x0f;
/** The flags share 32 bits with the generation. */
const FLAG_BITS = 256;
/** Lines of segments that stay in memory for the rows that are taken up next. */
const KEPT_LINES = 4_000;

const contentBits = (content: string): number => parseInt(content.slice(0, 8), 16);

/**
 * The results of earlier plans, found by key: 24 bytes per slot of a {@link KeyTable}, 32 to 64 per row. Ledgers stay in
 * the store and are read for the rows that are taken up.
 */
export class PreviousResults {
  /** Columns: segment + 1, line in it, generation and flags, content. */
  readonly #table = new KeyTable(4);
  readonly #segments: string[] = [];
  readonly #lines = new LeastRecent<readonly CampaignRowResult[]>(KEPT_LINES, (lines) => lines.length);

  private constructor(
    private readonly store: Pick<ArtifactStore, 'read'>,
    private readonly campaign: string,
  ) {}

  /**
   * Reads all of them once. @param onLines told after every segment how many lines were read
   * @throws ArtifactError when one is missing: a row that was bought must never look new
   */
  static async load(
    store: Pick<ArtifactStore, 'read'>,
    campaign: string,
    ref: ResultsRef | undefined,
    onLines: (lines: number) => void | Promise<void> = () => undefined,
  ): Promise<PreviousResults> {
    const previous = new PreviousResults(store, campaign);
    if (ref === undefined) return previous;
    for await (const sha256 of resultSegments(store, ref)) {
      previous.#segments.push(sha256);
      const lines = await readSegment(store, sha256);
      lines.forEach((result, line) => previous.#add(result, line));
      await onLines(lines.length);
    }
    return previous;
  }

  #add(result: CampaignRowResult, line: number): void {
    const hash = keyHash(result.key);
    const known = this.#table.get(hash) !== 0;
    const state = this.#table.get(hash, 2);
    if (known && result.generation < Math.floor(state / FLAG_BITS)) return;
    let basis = known ? state & (REBOUGHT | HAS_BASIS) : 0;
    let content = this.#table.get(hash, 3);
    // A line `changed` says what was not bought: what was bought stands in the line before it.
    if (result.outcome !== 'changed') {
      basis = HAS_BASIS | (isRebought(this.campaign, result) ? REBOUGHT : 0);
      content = contentBits(result.content);
    }
    const flags =
      basis |
      ROW_OUTCOMES.indexOf(result.outcome) |
      (result.ledger.some(({ state: of }) => of !== 'none') ? BOUGHT : 0) |
      (isTemporaryRejection(result) ? TEMPORARY : 0);
    this.#table.set(hash, this.#segments.length, line, result.generation * FLAG_BITS + flags, content);
  }

  find(key: string): PreviousRow | undefined {
    const hash = keyHash(key);
    const segment = this.#table.get(hash);
    if (segment === 0) return undefined;
    const flags = this.#table.get(hash, 2);
    const content = this.#table.get(hash, 3);
    return {
      outcome: ROW_OUTCOMES[flags & OUTCOME] ?? 'unconfirmed',
      bought: (flags & BOUGHT) !== 0,
      temporary: (flags & TEMPORARY) !== 0,
      rebought: (flags & REBOUGHT) !== 0,
      hasContent: (asked) => ((flags & HAS_BASIS) === 0 ? undefined : content === contentBits(asked)),
      read: () => this.#read(hash, segment - 1, key),
    };
  }

  async #read(hash: KeyHash, segment: number, key: string): Promise<CampaignRowResult> {
    const sha256 = this.#segments[segment] ?? '';
    const lines = await this.#lines.get(sha256, () => readSegment(this.store, sha256));
    const line = lines[this.#table.get(hash, 1)];
    // Two keys with the same 64 bits: neither may take the other's purchases for its own.
    if (line?.key !== key) throw new Error('Two rows of the campaign cannot be told apart by their keys.');
    return line;
  }
}

/** By the line itself, or by the creation keys of its attempts. */
function isRebought(campaign: string, result: CampaignRowResult): boolean {
  const { key, content, ledger } = result;
  return (
    result.rebought === true ||
    ledger.some(
      ({ attempt, creationKey }) =>
        creationKey === rowCreationKey(campaign, { key, content, rebought: true }, attempt),
    )
  );
}
