import { setTimeout as delay } from 'node:timers/promises';
import { type VideoState } from '../domain/video-state';
import { type WatchOptions } from './options';

/** What a watch asks; both may throw when nobody answers. */
export interface WatchedVideo {
  state(): Promise<VideoState>;
  isRunning(): Promise<boolean>;
}

/** Every state that differs from the one before, until the workflow is closed or the signal aborts. */
export async function* watchStates(
  video: WatchedVideo,
  { intervalMs = 1_500, signal }: WatchOptions,
): AsyncGenerator<VideoState, void, undefined> {
  let last = '';
  while (!isAborted(signal)) {
    const state = await video.state().catch(() => undefined);
    if (isAborted(signal)) return;
    const text = JSON.stringify(state ?? last);
    if (state !== undefined && text !== last) {
      last = text;
      yield state;
    }
    // A server that does not answer for a moment closes nothing.
    const goesOn = state === undefined ? await video.isRunning().catch(() => true) : state.phase !== 'done';
    if (!goesOn) return;
    await delay(intervalMs, undefined, { ...(signal && { signal }) }).catch(() => undefined);
  }
}

/** In a function, because the compiler takes a flag that it has seen for a constant. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}
