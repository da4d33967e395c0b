/**
 * Mistakes of this package among the errors that a `catch` sees. A fault of a disk, a network, a store or an input has a
 * meaning and an answer; a mistake has neither, and must not be taken for one of them.
 *
 * @module
 */

/** Thrown by JavaScript where code is wrong. Node's own errors of these classes have a `code`, and are about an input. */
const MISTAKES: ReadonlySet<unknown> = new Set(['TypeError', 'ReferenceError']);

/** Compares names: errors of another realm are instances of another class. */
export function isBug(error: unknown): error is Error {
  if (typeof error !== 'object' || error === null || 'code' in error) return false;
  return 'name' in error && MISTAKES.has(error.name);
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
