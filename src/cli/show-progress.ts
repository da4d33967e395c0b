import { setTimeout as delay } from 'node:timers/promises';
import { type VideoState } from '../domain/video-state';
import { type Connected } from './connect';
import { progressView, type ProgressView } from './progress-view';
import { type Report } from './report';
import { viewExecution } from './status/execution-view';

/** How often the tries of an activity are asked for. */
const TRIES_MS = 2_000;

export interface ShowProgressOptions {
  readonly connected: Connected;
  readonly report: Report;
  /** Whether the workflow answers the query `video_state`. */
  readonly showState: boolean;
}

/** What a wait shows while it goes on. */
export interface ShownProgress {
  /** The last state that was seen; null before the first one, and of a workflow that tells none. */
  state(): VideoState | null;
  stop(): void;
}

/** Shows every state and every further try until the signal aborts. What cannot be had (no worker, a busy one) is left out. */
export function showProgress(
  workflowId: string,
  options: ShowProgressOptions,
  signal: AbortSignal,
): ShownProgress {
  const view = progressView(options.report);
  let last: VideoState | null = null;
  const showStates = async (): Promise<void> => {
    for await (const state of options.connected.media.watch(workflowId, { signal })) {
      options.report.event('state', { workflowId, state });
      last = state;
      view.update(state);
    }
  };
  // The wait itself says what is wrong.
  if (options.showState) void showStates().catch(() => undefined);
  // Of a poll that failed the state tells.
  const isKnown = (): boolean => last?.phase === 'watching' || last?.phase === 'done';
  void showTries(workflowId, { ...options, view, isKnown }, signal).catch(() => undefined);
  return { state: () => last, stop: () => view.stop() };
}

interface TriesOptions extends Pick<ShowProgressOptions, 'connected'> {
  readonly view: ProgressView;
  readonly isKnown: () => boolean;
}

async function showTries(
  workflowId: string,
  { connected, view, isKnown }: TriesOptions,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await delay(TRIES_MS, undefined, { signal });
    const tries = isKnown() ? undefined : await triesOf(workflowId, connected);
    // Asked in a function: the compiler takes a flag that it has seen for a constant.
    if (!hasEnded(signal)) view.tries(tries);
  }
}

/** Which try of an activity is under way and why the one before failed; undefined for first tries. */
async function triesOf(
  workflowId: string,
  { client }: ShowProgressOptions['connected'],
): Promise<string | undefined> {
  const found = await viewExecution(client, workflowId, () => undefined).catch(() => undefined);
  const again = found?.pendingActivities.find(({ attempt }) => attempt > 1);
  if (again === undefined) return undefined;
  return `try ${again.attempt}, the last one failed: ${again.lastFailure ?? 'for a reason that is not known'}`;
}

function hasEnded(signal: AbortSignal): boolean {
  return signal.aborted;
}
