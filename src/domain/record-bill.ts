import { type CreateJournal, isSameEntry } from './journal';
import { type BillEntry, estimateOfSend, type JournalKey, purchaseOf, type Send } from './log-entries';
import { type Money } from './money';
import { stateOf } from './paid-log';
import { type VideoTask } from './video-task';

interface RecordedBill {
  /**
   * The bill in the log: the given one, an earlier one with the same send, source and reference, or the one that takes
   * precedence.
   */
  readonly bill: BillEntry;
  /** Whether this call wrote it. */
  readonly isNew: boolean;
  /** The send as it was before this call. */
  readonly send: Send;
}

/**
 * Records a bill in a key's log, next to any other writers. A send has one bill per source and reference, however often
 * it is recorded. The service's own amount is not recorded behind a bill of an invoice or a person, who know better.
 * @returns undefined if the log does not contain the billed send
 * @throws when the journal fails, after which it is safe to repeat, and for an amount that is not a safe integer
 */
export async function recordBill(
  journal: Pick<CreateJournal, 'read' | 'append'>,
  key: JournalKey,
  bill: BillEntry,
): Promise<RecordedBill | undefined> {
  // Such an entry would make the whole log unreadable.
  if (!Number.isSafeInteger(bill.microUnits))
    throw new RangeError('A billed amount must be a safe integer of micro-units.');
  const { about, source, reference } = bill;
  for (;;) {
    const entries = await journal.read(key);
    const send = stateOf(entries).sends.find(({ sent }) => sent.nonce === about);
    if (send === undefined) return undefined;
    const earlier = entries.find(
      (entry): entry is BillEntry =>
        entry.kind === 'bill' &&
        entry.about === about &&
        entry.source === source &&
        entry.reference === reference,
    );
    if (earlier !== undefined) return { bill: earlier, isNew: false, send };
    if (source === 'service' && send.bill !== null && send.bill.source !== 'service')
      return { bill: send.bill, isNew: false, send };
    const end = await journal.append(key, entries.length, bill).catch(async (fault: unknown) => {
      // The entry may have been created although the journal failed.
      if ((await journal.read(key)).some((entry) => isSameEntry(entry, bill))) return 'won';
      throw fault;
    });
    if (end === 'won') return { bill, isNew: true, send };
  }
}

/**
 * Records what a task cost according to its final record, as a bill of the send that created it.
 * @returns undefined if the journal does not have the task; `currency` if the send's estimate has another one
 * @throws as {@link recordBill} does
 */
export async function recordTaskBill(
  journal: Pick<CreateJournal, 'findTask' | 'read' | 'append'>,
  { taskId, account }: Pick<VideoTask, 'taskId' | 'account'>,
  actual: Money,
  at: string,
): Promise<RecordedBill | 'currency' | undefined> {
  const owner = (await journal.findTask(taskId)).find(({ video }) => video.account === account);
  if (owner === undefined) return undefined;
  const key = { namespace: owner.namespace, creationKey: owner.creationKey };
  const { sends } = stateOf(await journal.read(key));
  const send = sends.find((one) => {
    const purchase = purchaseOf(one);
    return purchase?.outcome === 'created' && purchase.video.taskId === taskId;
  });
  if (send === undefined) return undefined;
  const estimate = estimateOfSend(send);
  if (estimate !== null && estimate.currency !== actual.currency) return 'currency';
  const words = { source: 'service', by: 'service', reason: "amount in the task's record" } as const;
  const bill = { about: send.sent.nonce, ...actual, ...words, reference: taskId, at };
  return recordBill(journal, key, { v: 1, kind: 'bill', ...bill });
}
