import { type CreateJournal, keepsNothing } from '../../domain/journal';
import { log } from '@temporalio/activity';
import { CancelledFailure } from '@temporalio/common';
import { ArtifactError } from '../../artifacts/artifact-store';
import { type BooksUnavailable } from '../../domain/campaign/activities';
import { journalFault, JournalRecordError } from '../../journal/records';
import { clearOf } from '../failures';
import { type PaidDeps } from '../paid-context';

/**
 * Runs `work` with the journal that the queue is bound to. Where there is none, or something cannot be read or written
 * now, the answer says so; the caller waits and shows it.
 */
export async function withBoundJournal<T>(
  deps: PaidDeps,
  work: (journal: CreateJournal) => Promise<T>,
): Promise<T | BooksUnavailable> {
  if (keepsNothing(deps.journal)) return { unavailable: NO_JOURNAL };
  try {
    const stands = await deps.standing();
    return stands.bound ? await work(deps.journal) : { unavailable: stands.message };
  } catch (error) {
    if (error instanceof CancelledFailure) throw error;
    log.warn('The book of a campaign could not be kept', { cause: reasonOf(error) });
    return { unavailable: reasonOf(error) };
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof UnreadableBookError || error instanceof JournalRecordError) return error.message;
  return error instanceof ArtifactError ? STORE_DOWN : `${JOURNAL_DOWN} ${clearOf([])(journalFault(error))}`;
}

/** The records of a campaign cannot be used before a person has checked them. */
export class UnreadableBookError extends Error {
  override readonly name = 'UnreadableBookError';
}

const NO_JOURNAL =
  'The worker has no create journal (journal: "none"), and a campaign keeps its books there. Nothing is bought.';
const JOURNAL_DOWN =
  'The book of the campaign, which is kept in the create journal, cannot be read or written. Nothing more is bought until it can.';
const STORE_DOWN =
  'Pages or results of the campaign cannot be read from the artifact store. Nothing more is bought until they can.';
