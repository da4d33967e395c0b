import { batchNumber, freeLog, isClosed, type BookEntry, type FreeRecord } from '../../domain/campaign/book';
import { type CreateJournal, type SendAttemptKey, wasCharged } from '../../domain/journal';
import { mapConcurrently } from '../../domain/map-concurrently';
import { sendAttemptsOf, READS_AT_ONCE } from './open-page';

/** Whoever closes a batch, on the newest entry that it knows. */
export interface Closing {
  readonly namespace: string;
  readonly campaign: string;
  readonly payer: string;
  readonly book: BookEntry;
}

/**
 * Notes that what was charged under these keys has cost nothing, and sums up what this batch's closing takes off for it.
 * One record for each send attempt is won once, so that nothing is given back twice. It takes off what a closed batch was charged
 * for only: an open one leaves it out when it is settled.
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

/** Notes that what was charged for a send attempt has cost nothing: the record that stands then, whoever put it. */
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
