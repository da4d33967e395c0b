import {
  batchNumber,
  freeLog,
  isClosed,
  type BookEntry,
  type FreeRecord,
} from '../../domain/campaign/budget-book';
import { type CreateJournal } from '../../domain/journal';
import { type JournalKey, wasCharged } from '../../domain/log-entries';
import { mapConcurrently } from '../../domain/map-concurrently';
import { openLog } from '../key-log';
import { READS_AT_ONCE } from './open-page';

/** One send of a key. */
export interface SendKey extends JournalKey {
  /** Its index in the log, from 0. */
  readonly sendAttempt: number;
}

/** The close of a batch, based on the newest entry that is known. */
export interface Closing {
  readonly namespace: string;
  readonly campaign: string;
  readonly payer: string;
  readonly book: BookEntry;
}

/**
 * Records that the charges under these keys have cost nothing, and sums up what this close deducts for them. The record
 * of each send is written once, so that nothing is deducted twice. Only charges of closed batches are deducted:
 * an open one leaves them out when it is settled.
 */
export async function givenBack(
  journal: CreateJournal,
  { namespace, campaign, payer, book }: Closing,
  creationKeys: readonly string[],
): Promise<number> {
  let sum = 0;
  await mapConcurrently(creationKeys, READS_AT_ONCE, async (creationKey) => {
    const { state } = await openLog(journal, { namespace, creationKey });
    for (const [sendAttempt, send] of state.sends.entries()) {
      const { sent } = send;
      if (sent.kind !== 'intent' || sent.payer === undefined || !wasCharged(send)) continue;
      const number = batchNumber(campaign, sent.payer);
      const deducts = sent.payer !== payer && number !== undefined && isClosed(book, number);
      const free = await noteFree(journal, { namespace, creationKey, sendAttempt }, { by: payer, deducts });
      if (free.by === payer && free.deducts) sum += sent.estimate?.microUnits ?? 0;
    }
  });
  return sum;
}

/**
 * Records that the charge of a send has cost nothing. Returns the record that exists then, its own or an
 * earlier one.
 */
export async function noteFree(
  journal: CreateJournal,
  key: SendKey,
  { by, deducts }: Pick<FreeRecord, 'by' | 'deducts'>,
): Promise<FreeRecord> {
  const existing = await freeOfSend(journal, key);
  if (existing !== null) return existing;
  const log = freeLog(key.namespace, key.creationKey);
  const record: FreeRecord = { v: 1, kind: 'free', by, deducts, at: new Date().toISOString() };
  if ((await journal.putRecord(log, key.sendAttempt, record)) === 'won') return record;
  return (await freeOfSend(journal, key)) ?? record;
}

export async function freeOfSend(
  journal: CreateJournal,
  { namespace, creationKey, sendAttempt }: SendKey,
): Promise<FreeRecord | null> {
  return (await journal.readRecord(freeLog(namespace, creationKey), sendAttempt)) as FreeRecord | null;
}
