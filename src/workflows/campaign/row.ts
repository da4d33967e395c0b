import { type CreateOnceState } from '../../domain/create-once';
import { type CreatedVideo } from '../../domain/paid-call';
import { type PolledRecord } from '../../domain/poll-answers';
import { type WatchState } from '../../domain/poll-watch';
import { type OpenedRow, type RowSpec } from '../../domain/campaign/activities';
import { type RowPhase } from '../../domain/campaign/messages';
import { isBooked, type RowFacts } from '../../domain/campaign/row-result';
import { type CampaignRowResult, type LedgerLine } from '../../domain/campaign/row';
import { rowCreationKey } from '../../domain/creation-key';
import { type OpenSet } from './batch-pages';

/** One row in flight. Changed in place: a batch has hundreds of them and one thread. Times are workflow time in milliseconds. */
export interface Row {
  readonly set: OpenSet;
  readonly index: number;
  readonly opened: OpenedRow;
  readonly spec: RowSpec;
  readonly startedAt: number;
  phase: RowPhase;
  attempt: number;
  /** Nothing is created for it before. */
  notBefore: number;
  /** Taken for this attempt, in micro-units. */
  cost: number;
  /** The last attempt that was found in the journal; -1 when there is none. */
  started: number;
  create: CreateOnceState | null;
  created: Pick<CreatedVideo, 'video' | 'estimate' | 'warnings' | 'mayBeOwed'> | null;
  /** What is known of the wait; the poll loop brings it up to date. */
  watch: { readonly state: WatchState } | null;
  record: PolledRecord | null;
  /** Attempts that are over, of earlier plans too. */
  ledger: readonly LedgerLine[];
  /** What the attempt before came to, should there be no other. */
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
    record: null,
    ledger: opened.was?.ledger ?? [],
    last: null,
  };
}

/** When the last attempt of it that was started was sent, in milliseconds: a hand back gives no video more time. */
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

/** What this attempt takes out of the account. */
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

/** Calls of one model by one account share a limit: it is the service that has no room. */
export function limitKeyOf(row: Row): string {
  return `${row.spec.account ?? ''} ${row.spec.model}`;
}
