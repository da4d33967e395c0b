import { RETRIED_BY_DEFAULT, type RowSelection } from '../domain/campaign/plan';
import {
  type CampaignRow,
  type CampaignRowResult,
  type LedgerLine,
  type RowOutcome,
} from '../domain/campaign/row';
import { rowCreationKey } from '../domain/creation-key';
import { type PreviousRow } from './previous-results';

/** Outcomes that are not final: `missing` takes these rows up again. */
const NOT_FINAL: ReadonlySet<RowOutcome> = new Set<RowOutcome>([
  'still_running',
  'content_unavailable',
  'unconfirmed',
  'skipped_budget',
  'cancelled',
  'changed',
]);

/** Reasons of a rejection after which the same call may be taken later. */
const TEMPORARY_REASONS: ReadonlySet<string> = new Set([
  'retry_later',
  'not_sent',
  'credentials',
  'quota',
  'account_not_configured',
  'capacity',
  'price_changed',
]);

export function isTemporaryRejection({
  outcome,
  reason,
}: Pick<CampaignRowResult, 'outcome' | 'reason'>): boolean {
  return outcome === 'rejected' && reason !== undefined && TEMPORARY_REASONS.has(reason);
}

export type TakeUp =
  /** Has a result, and this plan does not touch it. */
  | { readonly kind: 'stands' }
  /** Has no result, and this plan asks for rows that have one. */
  | { readonly kind: 'not_asked' }
  | ({
      readonly kind: 'taken';
      /** This attempt may have been bought already: nothing new is ordered unless it turns out that it was not. */
      readonly mayBeBought: boolean;
      /** This attempt has a task: it costs nothing more. */
      readonly hasTask: boolean;
    } & Pick<CampaignRow, 'attempt' | 'rebought' | 'changed' | 'was'>);

export interface TakeUpRules {
  readonly campaign: string;
  readonly select: RowSelection;
  readonly rebuyChanged: boolean;
  /** @default nobody can say */
  readonly isBought?: IsBought;
  /** @default nobody can say */
  readonly isFirstText?: IsFirstText;
}

/** Whether the attempt that would follow those on the books of a row, or a later one, was bought all the same. */
export type IsBought = (
  row: Pick<CampaignRow, 'key' | 'content' | 'rebought' | 'attempt' | 'was'>,
) => Promise<boolean>;

/** Whether this is the text that was bought first under the key of a row, where no results tell which one that was. */
export type IsFirstText = (row: Identity) => Promise<boolean>;

type Identity = Pick<CampaignRow, 'key' | 'content' | 'call' | 'account'>;

/** Whether a plan has a row, and at which attempt it goes on. Never gives a creation key of another text to a row. */
export async function takeUp(
  identity: Identity,
  previous: PreviousRow | undefined,
  { campaign, select, rebuyChanged, isBought, isFirstText }: TakeUpRules,
): Promise<TakeUp> {
  const { key, content } = identity;
  if (previous === undefined)
    return select.rows === 'missing'
      ? { kind: 'taken', attempt: 0, mayBeBought: false, hasTask: false }
      : { kind: 'not_asked' };
  const known = previous.hasContent(content);
  // All results saw another text than the one that was bought: words that come back must not be bought again.
  const isFirst = known === undefined && previous.bought && (await isFirstText?.(identity)) === true;
  const sameText = known === true || isFirst;
  const changed = previous.bought && !sameText;
  const rebought = changed || (sameText && previous.rebought);
  const isTaken = isAsked(key, previous, changed, select);
  const isHeld = changed && !rebuyChanged;
  // Where nobody orders a new attempt, one may be paid for all the same: a campaign bought it and ended before the row had
  // another result. Of a completed row only another text is ever bought.
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

/** The last attempt of this very text: attempts of another one have other creation keys. */
function lastAttempt(
  campaign: string,
  row: Pick<CampaignRow, 'key' | 'content' | 'rebought'>,
  ledger: readonly LedgerLine[],
): LedgerLine | undefined {
  return ledger
    .filter(({ attempt, creationKey }) => creationKey === rowCreationKey(campaign, row, attempt))
    .reduce<LedgerLine | undefined>(
      (last, line) => (last === undefined || line.attempt > last.attempt ? line : last),
      undefined,
    );
}

/**
 * Whether the row goes on under the key of its last attempt, so that nothing is bought twice. A rejection without a look
 * into the journal says nothing about what was sent under that key before.
 */
function keepsAttempt(
  last: LedgerLine,
  { outcome, temporary }: Pick<PreviousRow, 'outcome' | 'temporary'>,
  select: RowSelection,
): boolean {
  // The journal opens another epoch under the same key where that is proven to cost nothing (ADR 3).
  if (outcome === 'rejected' && temporary) return true;
  if (select.rows === 'retry') return false;
  // Between two attempts: the one on the books is over.
  if (outcome === 'skipped_budget') return false;
  if (outcome === 'cancelled') return last.state !== 'none';
  if (select.rows === 'again') return true;
  return outcome !== 'rejected' && last.state !== 'none';
}
