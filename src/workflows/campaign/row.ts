import { type CreateOnceState } from '../../domain/create-once';
import { type CreatedVideo } from '../../domain/paid-call';
import { type WatchState } from '../../domain/watch-state';
import { type OpenedRow, type RowSpec } from '../../domain/campaign/activities';
import { type RowPhase } from '../../domain/campaign/messages';
import { isBooked, type RowFacts } from '../../domain/campaign/row-result';
import { type CampaignRowResult, type LedgerLine } from '../../domain/campaign/row';
import { rowCreationKey } from '../../domain/creation-key';
import { type OpenSet } from './batch-pages';

/** One row in flight. Mutable: a batch has hundreds of them and one thread. Times are workflow time in milliseconds. */
export interface Row {
  readonly set: OpenSet;
  readonly index: number;
  readonly opened: OpenedRow;
  readonly spec: RowSpec;
  readonly startedAt: number;
  phase: RowPhase;
  attempt: number;
  /** Earliest time of the next create. */
  notBefore: number;
  /** Money taken for this attempt, in micro-units. */
  cost: number;
  /** The last attempt that was found in the journal; -1 when there is none. */
  started: number;
  create: CreateOnceState | null;
  created: Pick<CreatedVideo, 'video' | 'estimate' | 'warnings' | 'mayBeOwed'> | null;
  /** State of the wait; the poll loop updates it. */
  watch: { readonly state: WatchState } | null;
  /** Finished attempts, including those of earlier plans. */
  ledger: readonly LedgerLine[];
  /** Result of the previous attempt, for the case that no other follows. */
  last: CampaignRowResult | null;
}

export function newRow(set: OpenSet, index: number, now: number): Row {
  const { opened, spec } = set.row(index);
  return {
    set,
    index,
    opened,
    spec,
    startedAt: (set.set.started === undefined ? undefined : sinceOf(opened)) ?? now,
    phase: 'waiting',
    attempt: opened.attempt ?? 0,
    notBefore: 0,
    cost: 0,
    started: opened.started ?? -1,
    create: null,
    created: null,
    watch: null,
    ledger: opened.was?.ledger ?? [],
    last: null,
  };
}

/** When its last started attempt was sent, in milliseconds: a hand-back gives no video more time. */
export function sinceOf({ since }: Pick<OpenedRow, 'since'>): number | undefined {
  return since === undefined ? undefined : Date.parse(since);
}

/** Whether this attempt was started before: it is looked up, and nothing is sent for it. */
export function isStarted({ attempt, started }: Pick<Row, 'attempt' | 'started'>): boolean {
  return attempt <= started;
}

export function creationKeyOf(campaign: string, row: Row): string {
  return rowCreationKey(campaign, row.opened, row.attempt);
}

/** Whether an earlier plan has this attempt on the books. */
export function isBought(campaign: string, row: Row): boolean {
  return isBooked(row.ledger, creationKeyOf(campaign, row));
}

/** Money that this attempt takes from the budget of its batch. */
export function costOf(campaign: string, row: Row): number {
  return isBought(campaign, row) ? 0 : (row.spec.estimate ?? 0);
}

export function factsOf(campaign: string, row: Row): RowFacts {
  return {
    opened: row.opened,
    spec: row.spec,
    generation: row.set.set.generation,
    page: row.set.set.page,
    index: row.index,
    attempt: row.attempt,
    creationKey: creationKeyOf(campaign, row),
    ledger: row.ledger,
    startedAt: row.startedAt,
  };
}

/** Calls of one model by one account share a limit, because the capacity of the service limits them. */
export function limitKeyOf(row: Row): string {
  return `${row.spec.account ?? ''} ${row.spec.model}`;
}
