import { Context } from '@temporalio/activity';
import { type ArtifactStore } from '../artifacts/artifact-store';
import { type CreateJournal } from '../domain/create-journal';
import { type AskStanding, type Standing } from '../domain/journal-binding';
import { baseTaskQueue } from '../domain/names';
import { bindJournal, JournalBindingError } from './bind-journal';

/** How long an answer holds: a queue that was taken over is noticed within it, and most creates ask nobody. */
const HOLDS_MS = 60_000;

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

  async function ask(context: Context, taskQueue: string, before: Asked | undefined): Promise<Standing> {
    try {
      const { binding, boundSince } = await bindJournal({
        client: context.client,
        taskQueue,
        journal,
        artifacts,
        accounts: accounts(),
      });
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
    const taskQueue = baseTaskQueue(context.info.taskQueue);
    const key = `${context.info.namespace}\n${taskQueue}`;
    const before = asked.get(key);
    if (before !== undefined && !fresh && performance.now() - before.at < HOLDS_MS) return before.standing;
    const now: Asked = { at: performance.now(), standing: ask(context, taskQueue, before) };
    asked.set(key, now);
    const forget = () => {
      if (asked.get(key) === now) asked.delete(key);
    };
    now.standing.then(({ bound }) => bound || forget(), forget);
    return now.standing;
  };
}
