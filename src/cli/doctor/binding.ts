import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { type JournalIdentity } from '../../domain/create-journal';
import { decideBinding, type JournalBinding } from '../../domain/journal-binding';
import { createFileJournal } from '../../journal/file-journal';
import { JournalRecordError } from '../../journal/records';
import { type Check, failed, type Finding, ok } from './check';
import { type Facts } from './facts';
import { folderState } from './folder-state';
import { readBinding } from './read-binding';

/** Whether a worker with this journal may serve the task queue (design 4.3). */
export const binding: Check = {
  name: 'binding',
  title: 'Journal binding',
  after: ['namespace', 'journal'],
  workerSide: true,
  limitMs: 4_000,
  late: 'temporal_unreachable',
  run: async ({ target, config, session: { connection } }) => {
    if ('problem' in target || connection === undefined) throw new Error('There is no connection.');
    const { namespace, taskQueue } = target;
    let journal: JournalIdentity | null;
    try {
      journal = await identityOf(config);
    } catch (error) {
      if (error instanceof JournalRecordError) return failed('journal_unusable', error.message);
      throw error;
    }
    const current = await readBinding(new Client({ connection, namespace }), taskQueue);
    return judgeBinding(current, journal, taskQueue);
  },
};

/** Null while there is no journal: asking it for its name would make one. */
async function identityOf(config: Facts['config']): Promise<JournalIdentity | null> {
  const { journal: root, journalShared: shared } = config;
  if ((await folderState(join(root, 'journal.json'))) === 'missing') return null;
  return createFileJournal({ root, shared }).identity();
}

/** @param journal the journal of this environment; null when none has been made yet */
export function judgeBinding(
  current: JournalBinding | null,
  journal: JournalIdentity | null,
  taskQueue: string,
): Finding {
  if (current === null) return ok(`the first worker binds the task queue "${taskQueue}" to its journal`);
  if (journal === null) {
    const message = `The task queue "${taskQueue}" is bound to a journal, and here is none yet.`;
    return failed('journal_binding', message);
  }
  const answer = decideBinding(current, journal);
  if (answer.bound) return ok(`the task queue "${taskQueue}" is bound to this journal`);
  return failed(
    'journal_binding',
    answer.difference === 'journal'
      ? `The task queue "${taskQueue}" is bound to another journal than the one here.`
      : `The task queue "${taskQueue}" is bound to this journal on another host.`,
  );
}
