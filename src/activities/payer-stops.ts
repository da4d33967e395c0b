import { randomUUID } from 'node:crypto';
import { fenceLog, ownerLog, type OwnerRecord } from '../domain/campaign/budget-book';
import { type CreateJournal } from '../domain/journal';
import { BATCH_CLOSED } from '../domain/names';
import { type NotSent } from '../domain/paid-call';
import { journalDown } from './journal-failures';
import { type AnswerBase } from './paid-answers';
import { type Caller } from './paid-context';

/**
 * Why a request whose intent is written may not be sent out of a batch's money; undefined where it may. The close of a
 * batch writes its fence before it reads the intents, so that it reads those of all requests that pass this check. The
 * owner is recorded first, so that the close also finds the run of a request that may still be sent.
 */
export async function payerStops(
  journal: CreateJournal,
  payer: string | undefined,
  { namespace, runId }: Pick<Caller, 'namespace' | 'runId'>,
  base: AnswerBase,
): Promise<NotSent | undefined> {
  if (payer === undefined) return undefined;
  const notSent = {
    ...base,
    outcome: 'not_sent',
    sent: false,
    sendAttemptUsed: true,
    permanent: false,
  } as const;
  try {
    if (!(await ownsBatch(journal, namespace, payer, runId)))
      return { ...notSent, cause: BATCH_CLOSED, message: NOT_THE_OWNER };
    const fence = await journal.readRecord(fenceLog(namespace, payer), 0);
    return fence === null ? undefined : { ...notSent, cause: BATCH_CLOSED, message: CLOSED };
  } catch (error) {
    return { ...journalDown(base, error), sendAttemptUsed: true };
  }
}

const CLOSED =
  'The batch of the campaign that was to pay for this is closed, and nothing was sent. Its campaign gives the row to another batch.';
const NOT_THE_OWNER =
  'Another run of this batch of the campaign spends its money, and nothing was sent: a batch that was reset does not know what was spent before. Its campaign gives the row to another batch.';

/** Whether this run may spend the money of a batch: the first run that opens one of its pages, or wants to send. */
export async function ownsBatch(
  journal: CreateJournal,
  namespace: string,
  payer: string,
  runId: string | null,
): Promise<boolean> {
  const run = runId ?? '';
  const log = ownerLog(namespace, payer);
  const read = async () => (await journal.readRecord(log, 0)) as OwnerRecord | null;
  const owner = await read();
  if (owner !== null) return owner.run === run;
  const record: OwnerRecord = { v: 1, kind: 'owner', run, at: new Date().toISOString() };
  return (await journal.putRecord(log, 0, record)) === 'won' || (await read())?.run === run;
}

/** Permanently stops sends out of a batch's money. */
export async function fenceBatch(journal: CreateJournal, namespace: string, payer: string): Promise<void> {
  const log = fenceLog(namespace, payer);
  if ((await journal.readRecord(log, 0)) !== null) return;
  await journal.putRecord(log, 0, {
    v: 1,
    kind: 'fence',
    nonce: randomUUID(),
    at: new Date().toISOString(),
  });
}
