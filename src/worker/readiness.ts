import { type CreateJournal } from '../domain/journal';

/** How old an answer may be, in milliseconds: probes come every few seconds, from several sides. */
const KEPT_MS = 10_000;
/** A journal that has not answered in this time, in milliseconds, counts as away. */
const LIMIT_MS = 5_000;

/**
 * Whether a worker can take creates: its journal can be written. Without it nothing is sent, so that a worker behind
 * which the journal has gone would only refuse what another one could do. Never rejects.
 */
export function readinessOf(
  { checkWritable }: Pick<CreateJournal, 'checkWritable'>,
  now: () => number = () => performance.now(),
): () => Promise<boolean> {
  let last: { readonly at: number; readonly answer: Promise<boolean> } | undefined;
  return () => {
    const at = now();
    if (last === undefined || at - last.at >= KEPT_MS) last = { at, answer: answersInTime(checkWritable()) };
    return last.answer;
  };
}

function answersInTime(check: Promise<void>): Promise<boolean> {
  return new Promise((resolve) => {
    const limit = setTimeout(() => resolve(false), LIMIT_MS);
    check
      .then(
        () => resolve(true),
        () => resolve(false),
      )
      .finally(() => clearTimeout(limit));
  });
}
