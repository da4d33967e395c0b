import {
  batchNumber,
  freeLog,
  isClosed,
  type BookEntry,
  type FreeRecord,
} from '../../domain/campaign/budget-book';
import { type CreateJournal, type SendAttemptKey, wasCharged } from '../../domain/journal';
import { mapConcurrently } from '../../domain/map-concurrently';
import { sendAttemptsOf, READS_AT_ONCE } from './open-page';

/** The close of a batch, based on the newest entry that is known. */
export interface Closing {
  readonly namespace: string;
  readonly campaign: string;
  readonly payer: string;
  readonly book: BookEntry;
}

/**
 * Records that the charges under these keys have cost nothing, and sums up what this close deducts for them. The record
 * of each send attempt is written once, so that nothing is deducted twice. Only charges of closed batches are deducted:
 * an open one leaves them out when it is settled.
 */
export async function givenBack(
  journal: CreateJournal,
  { namespace, campaign, payer, book }: Closing,
  creationKeys: readonly string[],
): Promise<number> {
  let sum = 0;
  await mapConcurrently(creationKeys, READS_AT_ONCE, async (creationKey) => {
    const sendAttempts = await sendAttemptsOf(journal, { namespace, creationKey });
    for (const [sendAttempt, view] of sendAttempts.entries()) {
      const { claim } = view;
      if (claim?.kind !== 'intent' || claim.payer === undefined || !wasCharged(view)) continue;
      const number = batchNumber(campaign, claim.payer);
      const deducts = claim.payer !== payer && number !== undefined && isClosed(book, number);
      const free = await noteFree(journal, { namespace, creationKey, sendAttempt }, { by: payer, deducts });
      if (free.by === payer && free.deducts) sum += claim.estimate?.microUnits ?? 0;
    }
  });
  return sum;
}

/**
 * Records that the charge of a send attempt has cost nothing. Returns the record that exists then, its own or an
 * earlier one.
 */
export async function noteFree(
  journal: CreateJournal,
  key: SendAttemptKey,
  { by, deducts }: Pick<FreeRecord, 'by' | 'deducts'>,
): Promise<FreeRecord> {
  const standing = await freeOfSendAttempt(journal, key);
  if (standing !== null) return standing;
  const log = freeLog(key.namespace, key.creationKey);
  const record: FreeRecord = { v: 1, kind: 'free', by, deducts, at: new Date().toISOString() };
  if ((await journal.putRecord(log, key.sendAttempt, record)) === 'won') return record;
  return (await freeOfSendAttempt(journal, key)) ?? record;
}

export async function freeOfSendAttempt(
  journal: CreateJournal,
  { namespace, creationKey, sendAttempt }: SendAttemptKey,
): Promise<FreeRecord | null> {
  return (await journal.readRecord(freeLog(namespace, creationKey), sendAttempt)) as FreeRecord | null;
}
