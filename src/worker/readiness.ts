import { type Served } from './served-parts';

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
      last = { at, answer: answersInTime(Promise.all(stores.map((store) => store.checkWritable()))) };
    return last.answer;
  };
}

function answersInTime(check: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const limit = setTimeout(() => resolve(false), LIMIT_MS);
    check
      .then(
        () => resolve(true),
        // A store may be anybody's: whatever it throws, no work is to go there.
        (_error: unknown) => resolve(false),
      )
      .finally(() => clearTimeout(limit));
  });
}
