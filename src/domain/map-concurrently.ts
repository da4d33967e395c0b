/**
 * Runs `work` for the items in order, at most `atOnce` at the same time. Throws the first failure immediately, while
 * the other lanes continue.
 */
export async function mapConcurrently<T>(
  items: Iterable<T>,
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]();
  const rest: Iterable<T> = { [Symbol.iterator]: () => ({ next: () => queue.next() }) };
  const lane = async (): Promise<void> => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}
