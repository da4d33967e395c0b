import { type ReviewInput, type TemporalMediaClient } from '../../client';
import { type ReviewJournalPage } from '../../domain/unconfirmed-decision';
import { type Connected } from '../connect';
import { CliError } from '../cli-error';

/** The pages of what a worker's journal holds, as they come. @throws CliError when nobody can be asked */
export async function* readPages(
  connected: Connected,
  input: Omit<ReviewInput, 'after'>,
): AsyncGenerator<ReviewJournalPage> {
  if ((await connected.hasWorker()) === false) {
    throw new CliError(
      'no_worker',
      `No worker serves the task queue ${connected.taskQueue}, and only a worker has the journal.`,
    );
  }
  let after: string | null = null;
  do {
    const page: ReviewJournalPage = await review(connected.media, { ...input, after });
    yield page;
    after = page.next;
  } while (after !== null);
}

async function review(media: TemporalMediaClient, input: ReviewInput): Promise<ReviewJournalPage> {
  try {
    return await media.reviewJournal(input);
  } catch (error) {
    if ((error as Error).name !== 'WorkflowFailedError') throw error;
    const unreadable = recordErrorOf(error);
    if (unreadable !== undefined) throw new CliError('journal_unusable', unreadable);
    throw new CliError(
      'no_worker',
      'No worker has answered in two minutes, and only a worker has the journal.',
    );
  }
}

/** What a worker says of a record that no retry can read; undefined when it said nothing like that. */
function recordErrorOf(error: unknown): string | undefined {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause)
    if ((cause as { type?: unknown }).type === 'MediaJournalUnavailable') return cause.message;
  return undefined;
}
