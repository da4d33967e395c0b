import { type QueryDefinition, type SignalDefinition, type UpdateDefinition } from '@temporalio/common';
import { ApplicationFailure, log, setHandler } from '@temporalio/workflow';
import { INVALID_INPUT } from '../domain/names';
import { type Check } from '../domain/shape';

/**
 * The only `setHandler` calls. Any client may send any message to any workflow, and a throw in a handler fails the
 * workflow task again and again: what does not fit never reaches the code behind a handler.
 *
 * @module
 */

/** What is wrong with the arguments of a message; undefined where they fit. */
type Refuse = (...args: readonly unknown[]) => string | undefined;

/** The first argument is checked, others are ignored. */
export function fits(check: Check): Refuse {
  return (given) => check(given, '')?.message;
}

/** For a message without input: whatever comes with it is ignored. */
export const NO_INPUT: Refuse = () => undefined;

/** A signal that does not fit is skipped, and its name is logged: a signal has no reply. */
export function onSignal<Args extends unknown[]>(
  signal: SignalDefinition<Args>,
  refuse: Refuse,
  handle: (...args: NoInfer<Args>) => void | Promise<void>,
): void {
  setHandler(signal, (...args: Args) => {
    const issue = refuse(...args);
    if (issue === undefined) return handle(...args);
    log.warn('Skipped a malformed signal', { signal: signal.name, issue });
  });
}

/** The items that fit: one that does not must not keep the others from being handled. */
export function thatFit<Item>(items: readonly Item[], check: Check<Item>): Item[] {
  const fitting = items.filter((item) => check(item, '') === undefined);
  const skipped = items.length - fitting.length;
  if (skipped > 0) log.warn('Skipped malformed items of a signal', { skipped });
  return fitting;
}

/** An Update that does not fit is refused with the reason, and leaves no event. */
export function onUpdate<Result, Args extends unknown[]>(
  update: UpdateDefinition<Result, Args>,
  refuse: Refuse,
  handle: (...args: NoInfer<Args>) => Result | Promise<Result>,
): void {
  setHandler(update, handle, {
    validator: (...args: Args) => {
      const issue = refuse(...args);
      if (issue !== undefined) throw ApplicationFailure.nonRetryable(issue, INVALID_INPUT);
    },
  });
}

/** A query that throws fails alone, so that its arguments are left to it. */
export function onQuery<Result, Args extends unknown[]>(
  query: QueryDefinition<Result, Args>,
  answer: (...args: NoInfer<Args>) => Result,
): void {
  setHandler(query, answer);
}
