import {
  type CreateJournal,
  type JournalKey,
  type Resolution,
  type SlotIntent,
} from '../domain/create-journal';
import { journalUnavailable, retryLater } from './failures';
import { indexCreated } from './index-created';

/** A decision about one epoch. */
export interface DecidedEpoch {
  readonly epoch: number;
  readonly slot: SlotIntent;
  readonly resolution: Resolution;
}

/** Writes a decision and what it brings with it. Throws to be tried again where somebody else was faster: that stands. */
export async function writeResolution(
  journal: CreateJournal,
  key: JournalKey,
  decided: DecidedEpoch,
): Promise<void> {
  const taken = await journal.putResolution(key, decided.epoch, decided.resolution).catch(() => {
    throw journalUnavailable();
  });
  // Or this very one was written by an attempt that died: read again, it is one of them.
  if (taken === 'lost')
    throw retryLater({ class: 'decided', message: 'Somebody decided just now.', delayMs: 100 });
  await followResolution(journal, key, decided);
}

/** What a decision brings with it; done again whenever it is repeated. */
export async function followResolution(
  journal: CreateJournal,
  key: JournalKey,
  { epoch, slot, resolution }: DecidedEpoch,
): Promise<void> {
  await journal.forgetOpen({ ...key, epoch }, slot.bodyHash);
  if (resolution.answer !== null) await indexCreated(journal, key, resolution.answer, slot);
}
