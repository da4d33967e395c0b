/**
 * Mistakes of this package among the errors that a `catch` sees. A fault of a disk, a network, a store or an input has a
 * meaning and an answer; a mistake has neither, and must not be taken for one of them.
 *
 * @module
 */

/** Thrown by JavaScript where code is wrong. */
const MISTAKES: ReadonlySet<unknown> = new Set(['TypeError', 'ReferenceError']);
/** Causes of causes: more than any error has, and an end where one is its own. */
const DEPTH = 5;

/**
 * Whether an error, or what it was made of, is a mistake. Those of the same classes with a `code` or a `cause` are none:
 * Node refuses an input with a code, and `fetch` tells of a network with a cause. Compares names, because an error of
 * another realm is an instance of another class.
 */
export function isBug(error: unknown, depth = DEPTH): boolean {
  if (typeof error !== 'object' || error === null || depth === 0) return false;
  if ('cause' in error && error.cause != null) return isBug(error.cause, depth - 1);
  return !('code' in error) && 'name' in error && MISTAKES.has(error.name);
}

/** First in a `catch` that has an answer for faults of something else: a mistake of ours is passed on. */
export function throwBug(error: unknown): void {
  if (isBug(error)) throw error;
}

/** For `.catch(otherwise(value))`: the value stands for every fault, and a mistake of ours is passed on. */
export function otherwise<T>(value: T): (error: unknown) => T {
  return (error) => {
    throwBug(error);
    return value;
  };
}
