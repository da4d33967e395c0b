import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { storeIdentity } from '../../artifacts/store-identity';
import { isSetBack } from '../../binding/bind-journal';
import { type FoundLedger, readLedger } from '../../binding/ledger';
import { accountsOfOthers } from '../../binding/served-accounts';
import { type CreateJournal, type JournalIdentity } from '../../domain/create-journal';
import { differenceOf, type Ledger, type LedgerDifference } from '../../domain/journal-binding';
import { createFileJournal } from '../../journal/file-journal';
import { JournalRecordError } from '../../journal/records';
import { accountName } from '../../service/base-url';
import { type Check, failed, type Finding, ok, warning } from './check';
import { type Facts } from './facts';
import { folderState } from './folder-state';

/** What a worker of this environment would say of itself. */
export interface OwnSide {
  /** Null when no journal has been made yet. */
  readonly journal: (JournalIdentity & { readonly isSetBack: boolean }) | null;
  /** Null while there is no artifact store. */
  readonly artifacts: string | null;
  /** Null without a usable base address. */
  readonly account: string | null;
}

/** Whether a worker with this journal and this artifact store may serve the task queue (architecture: Create). */
export const binding: Check = {
  name: 'binding',
  title: 'Journal binding',
  after: ['namespace', 'journal'],
  workerSide: true,
  limitMs: 4_000,
  late: 'temporal_unreachable',
  run: async ({ target, config, service, session: { connection } }) => {
    if ('problem' in target || connection === undefined) throw new Error('There is no connection.');
    const { namespace, taskQueue } = target;
    const found = await readLedger(new Client({ connection, namespace }), taskQueue);
    const ledger = found.is === 'missing' ? null : found.ledger;
    let journal: OwnSide['journal'];
    try {
      journal = await journalOf(config, ledger);
    } catch (error) {
      if (error instanceof JournalRecordError) return failed('journal_unusable', error.message);
      throw error;
    }
    const artifacts = await artifactsOf(config);
    const account = service === undefined ? null : accountName(config.credential, service.baseUrl);
    return judgeBinding(found, { journal, artifacts, account }, taskQueue);
  },
};

/** Null while there is no journal: asking it for its name would make one. */
async function journalOf(config: Facts['config'], ledger: Ledger | null): Promise<OwnSide['journal']> {
  const { journal: root, journalShared: shared } = config;
  if ((await folderState(join(root, 'journal.json'))) === 'missing') return null;
  const journal: CreateJournal = createFileJournal({ root, shared });
  return { ...(await journal.identity()), isSetBack: await isSetBack(ledger, journal) };
}

/** What is wrong with the store itself, its own check says. */
async function artifactsOf({ artifacts: root }: Facts['config']): Promise<string | null> {
  if ((await folderState(join(root, 'store.json'))) === 'missing') return null;
  return storeIdentity(root).catch(() => null);
}

const DIFFERS: { readonly [difference in LedgerDifference]: string } = {
  journal: 'is bound to another journal than the one here.',
  host: 'is bound to this journal on another host.',
  artifacts: 'stores its artifacts in another place than the one here (MEDIA_ARTIFACTS).',
};

export function judgeBinding(
  found: FoundLedger,
  { journal, artifacts, account }: OwnSide,
  taskQueue: string,
): Finding {
  const queue = `The task queue "${taskQueue}"`;
  const ledger = found.is === 'missing' ? null : found.ledger;
  if (ledger === null) return ok(`the first worker binds the task queue "${taskQueue}" to its journal`);
  if (journal === null)
    return failed('journal_binding', `${queue} is bound to a journal, and here is none yet.`);
  const difference = differenceOf(ledger, { ...journal, artifacts, accounts: [], mark: null });
  if (difference === 'artifacts') {
    const remedy =
      'Set MEDIA_ARTIFACTS or MEDIA_DATA_DIR as the other workers have it, or use a task queue of your own (MEDIA_TASK_QUEUE).';
    return failed('journal_binding', `${queue} ${DIFFERS[difference]}`, remedy);
  }
  if (difference !== undefined) return failed('journal_binding', `${queue} ${DIFFERS[difference]}`);
  if (journal.isSetBack) {
    const message = `${queue} knows of paid calls that the journal here lacks: it is an earlier copy of itself.`;
    return failed(
      'journal_binding',
      message,
      'Put the journal itself back; where it is lost, stop all workers and start once with `temporal-media worker --rebind`.',
    );
  }
  const others = account === null ? undefined : accountsOfOthers(ledger.accounts, account);
  if (others !== undefined)
    return warning(
      others,
      'Look whether a worker with those accounts runs; ignore it where they are used no more.',
    );
  return ok(`the task queue "${taskQueue}" is bound to this journal`);
}
