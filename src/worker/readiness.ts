import { type Served } from '../domain/names';

/** How old an answer may be, in milliseconds: probes come every few seconds, from several sides. */
const KEPT_MS = 10_000;
/** A journal that has not answered in this time, in milliseconds, counts as away. */
const LIMIT_MS = 5_000;

/** A store as the readiness of a worker sees it. */
interface Checked {
  checkWritable(): Promise<void>;
}

/**
 * The stores without which the served parts would only refuse what another worker could do: nothing is sent without the
 * journal, and no result is kept without the artifact store. Polls need neither.
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

/** A store may be anybody's: whatever it throws, no work is to go there. None is still asked when this resolves. */
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
