import { type ReviewInput, type TemporalMediaClient } from 'temporal-media/client';
import { type ReviewJournalPage } from 'temporal-media';
import { type Orphan, orphansAmong } from './find-orphans';
import { type Connected } from '../connect';
import { type CommandContext } from '../context';
import { CliError } from '../errors';
import { namespaceRetentionMs } from '../retention';
import { textTable } from '../progress-view';
import { commandFor } from '../text';

/** Lists paid tasks whose workflow was closed from outside and that no other workflow fetches. */
export async function findOrphans(
  context: CommandContext,
  connected: Connected,
  sinceMs: number | undefined,
): Promise<void> {
  const { report } = context;
  const now = Date.now();
  const keptSince = new Date(now - (await namespaceRetentionMs(connected.client)));
  const since = sinceMs === undefined ? undefined : new Date(now - sinceMs).toISOString();
  const orphans: Orphan[] = [];
  let scanned = 0;
  for await (const page of readPages(connected, { list: 'created', ...(since !== undefined && { since }) })) {
    orphans.push(...(await orphansAmong(connected.client, page.created, keptSince)));
    scanned += page.scanned;
  }
  if (orphans.length > 0) {
    const rows = orphans.map(({ taskId, creationKey, endedAs, createdAt, account }) => [
      taskId,
      creationKey,
      endedAs,
      createdAt ?? '',
      account,
    ]);
    for (const line of textTable([['TASK', 'ID', 'WORKFLOW', 'CREATED', 'ACCOUNT'], ...rows]))
      report.result(line);
    report.say(`Each is paid. To fetch one: ${commandFor('resume', orphans[0]?.taskId ?? 'TASK')}`);
  } else {
    report.say(`Every paid task has a workflow: ${scanned} creation keys in the journal.`);
  }
  report.reply({ ok: true, data: { orphans, scanned } });
}

/** The pages of a worker's journal, as they arrive. @throws CliError when no worker answers */
export async function* readPages(
  connected: Connected,
  input: Omit<ReviewInput, 'after'>,
): AsyncGenerator<ReviewJournalPage> {
  if ((await connected.hasWorker()) === false) {
    throw new CliError(
      'no_worker',
      `No worker serves the task queue ${connected.taskQueue}, and only a worker can read the journal.`,
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
      'No worker responded within two minutes, and only a worker can read the journal.',
    );
  }
}

/** A worker's message about a record that no retry can read; undefined for any other error. */
function recordErrorOf(error: unknown): string | undefined {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause)
    if ((cause as { type?: unknown }).type === 'MediaJournalUnavailable') return cause.message;
  return undefined;
}
