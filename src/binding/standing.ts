import { Context } from '@temporalio/activity';
import { type ArtifactStore } from '../artifacts/artifact-store';
import { type CreateJournal } from '../domain/journal';
import { type AskStanding, type Standing } from '../domain/journal-binding';
import { baseTaskQueue } from '../domain/names';
import { bindJournal, JournalBindingError } from './bind-journal';

/** How long an answer holds: a queue that was taken over is noticed within it, and most creates ask nobody. */
const HOLDS_MS = 60_000;

/** How often a queue on which money is spent tells its ledger of the moment: a copy of the journal is as old at least. */
const MARKED_EVERY_MS = 3_600_000;

const STORES_DOWN =
  'The create journal or the artifact store of this worker cannot be read or written, and nothing is sent without them.';

interface Asked {
  readonly at: number;
  readonly standing: Promise<Standing>;
}

/**
 * Asked by paid activities before they send: whether the journal of this worker is that of the queue on which they run,
 * binding a queue that is new. One answer for each queue of a process.
 */
export function standingOf(
  journal: CreateJournal,
  artifacts: ArtifactStore,
  accounts: () => readonly string[],
): AskStanding {
  const asked = new Map<string, Asked>();
  const marked = new Map<string, number>();

  async function ask(context: Context, key: string, before: Asked | undefined): Promise<Standing> {
    const markedAt = marked.get(key);
    const mark = markedAt === undefined || performance.now() - markedAt >= MARKED_EVERY_MS;
    try {
      const { binding, boundSince } = await bindJournal({
        client: context.client,
        taskQueue: context.info.taskQueue,
        journal,
        artifacts,
        accounts: accounts(),
        mark,
      });
      if (mark) marked.set(key, performance.now());
      return { bound: true, journalId: binding.journalId, boundSince };
    } catch (error) {
      if (!(error instanceof JournalBindingError)) return { bound: false, message: STORES_DOWN };
      const known = await before?.standing.catch(() => undefined);
      // A server that is silent for a moment has not given the queue to somebody else.
      if (error.cause !== undefined && known?.bound === true) return known;
      return { bound: false, message: error.message };
    }
  }

  return async ({ fresh = false } = {}) => {
    const context = Context.current();
    const key = `${context.info.namespace}\n${baseTaskQueue(context.info.taskQueue)}`;
    const before = asked.get(key);
    if (before !== undefined && !fresh && performance.now() - before.at < HOLDS_MS) return before.standing;
    const now: Asked = { at: performance.now(), standing: ask(context, key, before) };
    asked.set(key, now);
    const forget = () => {
      if (asked.get(key) === now) asked.delete(key);
    };
    now.standing.then(({ bound }) => bound || forget(), forget);
    return now.standing;
  };
}
