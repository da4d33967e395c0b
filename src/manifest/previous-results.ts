import { LRUCache } from 'lru-cache';
import { RETRIED_BY_DEFAULT, type RowSelection } from '../domain/campaign/plan';
import { type ResultsRef } from '../domain/campaign/results';
import {
  type CampaignRow,
  type CampaignRowResult,
  type LedgerLine,
  type RowOutcome,
} from '../domain/campaign/row';
import { rowCreationKey } from '../domain/creation-key';
import { isTemporary } from '../domain/failure-table';
import { type ArtifactStore } from '../stores/artifacts/artifact-store';
import { readSegment, resultSegments } from './result-lines';

/** Outcomes that are not final. The selection `missing` resumes these rows. */
const NOT_FINAL: ReadonlySet<RowOutcome> = new Set<RowOutcome>([
  'still_running',
  'content_unavailable',
  'unconfirmed',
  'skipped_budget',
  'cancelled',
  'changed',
]);

type ResumeRows =
  /** The row has a result, which this plan keeps. */
  | { readonly kind: 'stands' }
  /** The row has no result, and this plan selects only rows with results. */
  | { readonly kind: 'not_asked' }
  | ({
      readonly kind: 'taken';
      /**
       * Whether this attempt may have been bought. If so, it is not bought again unless the journal proves that it was
       * never bought.
       */
      readonly mayBeBought: boolean;
      /** Whether this attempt already has a task, so that it costs nothing more. */
      readonly hasTask: boolean;
    } & Pick<CampaignRow, 'attempt' | 'rebought' | 'changed' | 'was'>);

export interface ResumeRules {
  readonly campaign: string;
  readonly select: RowSelection;
  readonly rebuyChanged: boolean;
  /** @default unknown */
  readonly isBought?: IsBought;
  /** @default unknown */
  readonly isFirstText?: IsFirstText;
}

/** Whether an attempt after the last one in a row's ledger was bought. */
export type IsBought = (
  row: Pick<CampaignRow, 'key' | 'content' | 'rebought' | 'attempt' | 'was'>,
) => Promise<boolean>;

/** Whether this text was the first one bought under a row's key. Used for rows whose results do not show this. */
export type IsFirstText = (row: Identity) => Promise<boolean>;

type Identity = Pick<CampaignRow, 'key' | 'content' | 'call' | 'account'>;

/** Decides whether a plan includes a row, and with which attempt. Never reuses the creation key of another text. */
export async function resumeRows(
  identity: Identity,
  previous: PreviousRow | undefined,
  { campaign, select, rebuyChanged, isBought, isFirstText }: ResumeRules,
): Promise<ResumeRows> {
  const { key, content } = identity;
  if (previous === undefined)
    return select.rows === 'missing'
      ? { kind: 'taken', attempt: 0, mayBeBought: false, hasTask: false }
      : { kind: 'not_asked' };
  const known = previous.content === undefined ? undefined : previous.content === content;
  // The results might not show the bought text. If the row's text was changed back to that text, the row must not be
  // bought again.
  const isFirst = known === undefined && previous.bought && (await isFirstText?.(identity)) === true;
  const sameText = known === true || isFirst;
  const changed = previous.bought && !sameText;
  const rebought = changed || (sameText && previous.rebought);
  const isTaken = isAsked(key, previous, changed, select);
  const isHeld = changed && !rebuyChanged;
  // Even if this plan does not start an attempt, an earlier campaign may have bought one and ended before recording its
  // result. This cannot happen for a completed row with the same text, because only a new text is ever bought for it.
  const isOver = previous.outcome === 'completed' && sameText;
  const ask = (!isTaken || isHeld) && !isOver ? isBought : undefined;
  if (!isTaken && ask === undefined) return { kind: 'stands' };
  const { outcome, ledger } = await previous.read();
  const was = { outcome, ledger };
  const row = { key, content, ...(rebought && { rebought }) };
  const last = lastAttempt(campaign, row, ledger);
  const next = last === undefined ? 0 : last.attempt + 1;
  const taken = { kind: 'taken', ...(rebought && { rebought }), was } as const;
  if (await ask?.({ ...row, attempt: next, was }))
    return { ...taken, attempt: next, mayBeBought: true, hasTask: true };
  if (!isTaken) return { kind: 'stands' };
  if (isHeld) return { kind: 'taken', attempt: 0, changed: true, was, mayBeBought: true, hasTask: false };
  const keep = last !== undefined && (sameText || changed) && keepsAttempt(last, previous, select);
  return {
    ...taken,
    attempt: keep ? last.attempt : next,
    mayBeBought: keep && last.state !== 'none',
    hasTask: keep && (isFirst || last.taskId !== null) && last.state !== 'none',
  };
}

function isAsked(key: string, previous: PreviousRow, changed: boolean, select: RowSelection): boolean {
  const { outcome, temporary } = previous;
  switch (select.rows) {
    case 'missing':
      return changed || temporary || NOT_FINAL.has(outcome);
    case 'retry':
      return (select.outcomes ?? RETRIED_BY_DEFAULT).some((asked) => asked === outcome);
    case 'again':
      return select.outcomes.includes(outcome) && (select.keys === undefined || select.keys.includes(key));
  }
}

/** The last attempt with this text. Attempts with other texts have different creation keys. */
function lastAttempt(
  campaign: string,
  row: Pick<CampaignRow, 'key' | 'content' | 'rebought'>,
  attempts: readonly LedgerLine[],
): LedgerLine | undefined {
  return attempts
    .filter(({ attempt, creationKey }) => creationKey === rowCreationKey(campaign, row, attempt))
    .sort((a, b) => b.attempt - a.attempt)[0];
}

/**
 * Whether the row keeps its last attempt's creation key, so that nothing is bought twice. A rejection that occurred
 * before the journal was read does not show what was sent earlier under that key.
 */
function keepsAttempt(
  last: LedgerLine,
  { outcome, temporary }: Pick<PreviousRow, 'outcome' | 'temporary'>,
  select: RowSelection,
): boolean {
  // The journal allows another send under the same key if the last send provably cost nothing (ADR 3).
  if (outcome === 'rejected' && temporary) return true;
  if (select.rows === 'retry') return false;
  // The row was between two attempts, so the last one in the ledger has ended.
  if (outcome === 'skipped_budget') return false;
  if (outcome === 'cancelled') return last.state !== 'none';
  if (select.rows === 'again') return true;
  return outcome !== 'rejected' && last.state !== 'none';
}

/** A row's previous result, without its text. */
export interface PreviousRow {
  readonly outcome: RowOutcome;
  /** Whether an attempt of the row may have been bought. */
  readonly bought: boolean;
  /** Whether the rejection is temporary, so the same call may be accepted later. */
  readonly temporary: boolean;
  /** The content of the last line whose outcome is not `changed`; undefined if no such line exists. */
  readonly content: string | undefined;
  /** Whether that line's text was bought after another text. */
  readonly rebought: boolean;
  read(): Promise<CampaignRowResult>;
}

/** The maximum number of segment lines to cache for the rows that are resumed next. */
const KEPT_LINES = 4_000;

/** The location of a row's result: a line in a segment. */
interface Known extends Omit<PreviousRow, 'read'> {
  readonly segment: string;
  readonly line: number;
  readonly generation: number;
}

/** The results of earlier plans, by key. Ledgers stay in the store and are read only for resumed rows. */
export class PreviousResults {
  readonly #rows = new Map<string, Known>();
  readonly #lines = new LRUCache<string, readonly CampaignRowResult[]>({
    maxSize: KEPT_LINES,
    // Caps the size, so that even a segment larger than the whole cache can be cached.
    sizeCalculation: ({ length }) => Math.min(Math.max(length, 1), KEPT_LINES),
    fetchMethod: (sha256) => readSegment(this.store, sha256),
    ignoreFetchAbort: true,
  });

  private constructor(
    private readonly store: Pick<ArtifactStore, 'read'>,
    private readonly campaign: string,
  ) {}

  /**
   * Reads all segments once. @param onLines called after every segment with its number of lines
   * @throws ArtifactError if a segment is missing, because a bought row must never look new
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
      const lines = await readSegment(store, sha256);
      lines.forEach((result, line) => previous.#add(result, sha256, line));
      await onLines(lines.length);
    }
    return previous;
  }

  #add(result: CampaignRowResult, segment: string, line: number): void {
    const { key, generation, outcome, reason, ledger } = result;
    const known = this.#rows.get(key);
    if (known !== undefined && generation < known.generation) return;
    // A `changed` line's text was not bought. The line before it has the bought text.
    const basis =
      outcome === 'changed'
        ? { content: known?.content, rebought: known?.rebought === true }
        : { content: result.content, rebought: isRebought(this.campaign, result) };
    const bought = ledger.some(({ state }) => state !== 'none');
    const temporary = outcome === 'rejected' && reason !== undefined && isTemporary(reason);
    this.#rows.set(key, { segment, line, generation, outcome, bought, temporary, ...basis });
  }

  find(key: string): PreviousRow | undefined {
    const known = this.#rows.get(key);
    return known && { ...known, read: () => this.#read(known, key) };
  }

  async #read({ segment, line }: Known, key: string): Promise<CampaignRowResult> {
    const result = (await this.#lines.forceFetch(segment))[line];
    if (result?.key !== key) throw new Error('A results segment differs from the one read earlier.');
    return result;
  }
}

/** Whether a row was bought again with a new text, according to its line or its attempts' creation keys. */
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
