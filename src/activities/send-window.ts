import { CREATE_TIMEOUTS } from '../domain/timeouts';
import { type Caller } from './paid-context';

/** When one send may start, and when all of it is over. Times are milliseconds since the Unix epoch. */
export interface SendWindow {
  /** Time of the whole exchange, in milliseconds. */
  readonly budgetMs: number;
  readonly sendBy: number;
  /** Includes everything that follows the reply. */
  readonly endsAt: number;
}

/**
 * The window of a send whose intent is written now. It follows from the time budget of the model, and never exceeds the
 * timeout of the activity.
 * @param afterMs what may follow the reply, before the outcome is written
 */
export function sendWindow(
  { startedAt, startToCloseMs }: Pick<Caller, 'startedAt' | 'startToCloseMs'>,
  now: number,
  { budgetMs, afterMs }: { readonly budgetMs: number; readonly afterMs: number },
): SendWindow {
  const closesAt = startedAt + startToCloseMs;
  const sendBy = Math.min(now + CREATE_TIMEOUTS.sendWithinMs, closesAt - budgetMs);
  return { budgetMs, sendBy, endsAt: Math.min(sendBy + budgetMs + afterMs, closesAt) };
}

/** The time after which no sender of this window is alive. */
export function certainlyOverAt({ endsAt }: SendWindow): number {
  return endsAt + CREATE_TIMEOUTS.zombieMarginMs;
}
