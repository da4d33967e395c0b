import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { type JournalIdentity } from '../../domain/create-journal';
import { type FoundLedger, readLedger } from '../../binding/ledger';
import { differenceOf } from '../../domain/journal-binding';
import { createFileJournal } from '../../journal/file-journal';
import { JournalRecordError } from '../../journal/records';
import { type Check, failed, type Finding, ok } from './check';
import { type Facts } from './facts';
import { folderState } from './folder-state';

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
    const found = await readLedger(new Client({ connection, namespace }), taskQueue);
    return judgeBinding(found, journal, taskQueue);
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
  found: FoundLedger,
  journal: JournalIdentity | null,
  taskQueue: string,
): Finding {
  const ledger = found.is === 'missing' ? null : found.ledger;
  if (ledger === null) return ok(`the first worker binds the task queue "${taskQueue}" to its journal`);
  if (journal === null) {
    const message = `The task queue "${taskQueue}" is bound to a journal, and here is none yet.`;
    return failed('journal_binding', message);
  }
  const difference = differenceOf(ledger, { ...journal, artifacts: null, accounts: [] });
  if (difference === undefined) return ok(`the task queue "${taskQueue}" is bound to this journal`);
  return failed(
    'journal_binding',
    difference === 'host'
      ? `The task queue "${taskQueue}" is bound to this journal on another host.`
      : `The task queue "${taskQueue}" is bound to another journal than the one here.`,
  );
}
