import { type Served } from '../domain/names';

/** How old an answer may be, in milliseconds: probes arrive every few seconds, from several sources. */
const KEPT_MS = 10_000;
/** A journal that has not answered in this time, in milliseconds, counts as away. */
const LIMIT_MS = 5_000;

/** A store as readiness sees it. */
interface Checked {
  checkWritable(): Promise<void>;
}

/**
 * The stores without which the served parts could only refuse what another worker could do: nothing is sent without the
 * journal, and no result is stored without the artifact store. Polls need neither.
 */
export function storesNeeded(
  kinds: Served['kinds'],
  { journal, artifacts }: { readonly journal: Checked; readonly artifacts: Checked },
): readonly Checked[] {
  const sends = kinds.includes('create') || kinds.includes('image');
  return [...(sends ? [journal] : []), ...(kinds.some((kind) => kind !== 'poll') ? [artifacts] : [])];
}

/** Whether a worker can take work: its stores can be written. Never rejects. */
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

/** A store may be the user's code: if it throws, the worker must get no work. All checks have ended when this resolves. */
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
