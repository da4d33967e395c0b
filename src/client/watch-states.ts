import { setTimeout as delay } from 'node:timers/promises';
import { otherwise } from '../domain/bug';
import { type VideoState } from '../domain/video-state';
import { refuseInvalid } from './errors';
import { WATCH_KEYS, type WatchOptions } from './options';

/** What a watch polls; both may throw when neither a worker nor the server answers. */
export interface Watched<State> {
  state(): Promise<State>;
  isRunning(): Promise<boolean>;
}

/** Yields every state that differs from the previous one, until the workflow is closed or the signal aborts. */
export async function* watchStates<State extends { readonly phase: string } = VideoState>(
  watched: Watched<State>,
  options: WatchOptions,
): AsyncGenerator<State, void, undefined> {
  refuseInvalid(options, WATCH_KEYS);
  const { intervalMs = 1_500, signal } = options;
  let last = '';
  while (!isAborted(signal)) {
    const state = await watched.state().catch(otherwise(undefined));
    if (isAborted(signal)) return;
    const text = JSON.stringify(state ?? last);
    if (state !== undefined && text !== last) {
      last = text;
      yield state;
    }
    // A server that does not answer for a moment does not end the watch.
    const goesOn =
      state === undefined ? await watched.isRunning().catch(otherwise(true)) : state.phase !== 'done';
    if (!goesOn) return;
    await delay(intervalMs, undefined, { ...(signal && { signal }) }).catch(otherwise(undefined));
  }
}

/** A function, because the compiler would narrow `signal.aborted` to a constant after the first check. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}
