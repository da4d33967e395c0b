import { Context } from '@temporalio/activity';
import {
  BINDING_CACHE_MS,
  type BindingStatus,
  type CheckBinding,
  type CreateJournal,
} from '../../domain/journal';
import { baseTaskQueue } from '../../domain/names';
import { type ArtifactStore } from '../../stores/artifacts/artifact-store';
import { bindJournal, JournalBindingError } from './bind-journal';

/**
 * Milliseconds between two marks on a queue that spends money. A restored copy of the journal can be at most this old
 * without being detected.
 */
const MARKED_EVERY_MS = 3_600_000;

const STORES_DOWN =
  "This worker's create journal or artifact store cannot be read or written, and nothing is sent without them.";

interface CachedStatus {
  /** When it was read, by both clocks. */
  readonly at: number;
  readonly wall: number;
  readonly status: Promise<BindingStatus>;
}

/** Uses both clocks: the wall clock may step, and the other one stops while the machine is suspended. */
function isRecent({ at, wall }: CachedStatus): boolean {
  // oxlint-disable-next-line house/no-wall-clock-durations -- counts while the machine is suspended
  return performance.now() - at < BINDING_CACHE_MS && Date.now() - wall < BINDING_CACHE_MS;
}

/**
 * Checks, before a paid activity sends, whether this worker's journal is the one that its queue is bound to. Binds a
 * new queue. Caches one answer per queue and process.
 */
export function bindingChecker(
  journal: CreateJournal,
  artifacts: ArtifactStore,
  accounts: () => readonly string[],
): CheckBinding {
  const cached = new Map<string, CachedStatus>();
  const marked = new Map<string, number>();

  async function readStatus(context: Context, key: string): Promise<BindingStatus> {
    const markedAt = marked.get(key);
    const mark = markedAt === undefined || performance.now() - markedAt >= MARKED_EVERY_MS;
    try {
      const queue = { client: context.client, taskQueue: context.info.taskQueue };
      const queueBinding = await bindJournal({ ...queue, journal, artifacts, accounts: accounts(), mark });
      if (mark) marked.set(key, performance.now());
      const { binding, boundSince, accounts: served } = queueBinding;
      return { bound: true, journalId: binding.journalId, boundSince, accounts: served };
    } catch (error) {
      return { bound: false, message: error instanceof JournalBindingError ? error.message : STORES_DOWN };
    }
  }

  return async ({ fresh = false } = {}) => {
    const context = Context.current();
    const key = `${context.info.namespace}\n${baseTaskQueue(context.info.taskQueue)}`;
    const before = cached.get(key);
    if (before !== undefined && !fresh && isRecent(before)) return before.status;
    const now: CachedStatus = { at: performance.now(), wall: Date.now(), status: readStatus(context, key) };
    cached.set(key, now);
    const forget = () => {
      if (cached.get(key) === now) cached.delete(key);
    };
    now.status.then(({ bound }) => bound || forget(), forget);
    return now.status;
  };
}
