import { type Served } from '../domain/names';

/** How long a result is reused, in milliseconds. Probes arrive every few seconds from several sources. */
const KEPT_MS = 10_000;
/** A store that does not respond within this many milliseconds counts as unavailable. */
const LIMIT_MS = 5_000;

/** A store whose readiness can be checked. */
interface Checked {
  checkWritable(): Promise<void>;
}

/**
 * Returns the stores that the served parts need. Without the journal, nothing can be sent. Without the artifact store,
 * no results can be stored. Another worker should get such work. Polls need neither store.
 */
export function storesNeeded(
  kinds: Served['kinds'],
  { journal, artifacts }: { readonly journal: Checked; readonly artifacts: Checked },
): readonly Checked[] {
  const sends = kinds.includes('create') || kinds.includes('image');
  return [...(sends ? [journal] : []), ...(kinds.some((kind) => kind !== 'poll') ? [artifacts] : [])];
}

/**
 * Returns a function that checks whether a worker can take work, that is, whether its stores are writable. Never
 * rejects.
 */
export function readinessOf(
  stores: readonly Checked[],
  now: () => number = () => performance.now(),
): () => Promise<boolean> {
  let last: { readonly at: number; readonly answer: Promise<boolean> } | undefined;
  return () => {
    const at = now();
    if (last === undefined || at - last.at >= KEPT_MS)
      last = { at, answer: answeredInTime(areWritable(stores)) };
    return last.answer;
  };
}

/** Waits for all checks. A store may be the user's code, and if it throws, the worker is not ready. */
async function areWritable(stores: readonly Checked[]): Promise<boolean> {
  const checks = await Promise.allSettled(stores.map(async (store) => store.checkWritable()));
  return checks.every(({ status }) => status === 'fulfilled');
}

function answeredInTime(check: Promise<boolean>): Promise<boolean> {
  return new Promise((resolve) => {
    const limit = setTimeout(() => resolve(false), LIMIT_MS);
    void check.then(resolve).finally(() => clearTimeout(limit));
  });
}
