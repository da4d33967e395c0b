/**
 * Recognizes bugs in this package among the errors that a `catch` receives. A disk, network, store or input error is
 * expected and can be handled. A bug must not be mistaken for such an error.
 *
 * @module
 */

/** Errors that JavaScript throws for faulty code. */
const MISTAKES: ReadonlySet<unknown> = new Set(['TypeError', 'ReferenceError']);
/**
 * Maximum depth of causes to follow. Real errors never have this many causes. The limit exists for an error that is its
 * own cause.
 */
const DEPTH = 5;

/**
 * Whether an error or one of its causes is a bug. Errors of these classes with a `code` or a `cause` are not bugs: Node
 * rejects invalid input with a code, and `fetch` reports a network error with a cause. Compares names, because an error
 * from another realm is an instance of a different class.
 */
export function isBug(error: unknown, depth = DEPTH): boolean {
  if (typeof error !== 'object' || error === null || depth === 0) return false;
  if ('cause' in error && error.cause != null) return isBug(error.cause, depth - 1);
  return !('code' in error) && 'name' in error && MISTAKES.has(error.name);
}

/** Rethrows a bug in this package. Call this first in a `catch` that handles external errors. */
export function throwBug(error: unknown): void {
  if (isBug(error)) throw error;
}

/** Handles rejections in `.catch(otherwise(value))`: returns the value for external errors, and rethrows our bugs. */
export function otherwise<T>(value: T): (error: unknown) => T {
  return (error) => {
    throwBug(error);
    return value;
  };
}
