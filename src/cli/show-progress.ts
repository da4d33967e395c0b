import { setTimeout as delay } from 'node:timers/promises';
import { type VideoState } from '../domain/video-state';
import { type Connected } from './connect';
import { progressView, type ProgressView } from './progress-view';
import { type Report } from './report';
import { viewExecution } from './status/execution-view';

/** How often the tries of activities are read, in milliseconds. */
const TRIES_MS = 2_000;

export interface ShowProgressOptions {
  readonly connected: Connected;
  readonly report: Report;
  /** Whether the workflow answers the query `video_state`. */
  readonly showState: boolean;
}

/** The progress that a wait shows. */
export interface ShownProgress {
  /** The last state that was read; null before the first one, and for a workflow without the query. */
  state(): VideoState | null;
  stop(): void;
}

/** Shows every state and retry until the signal aborts. What cannot be read (no worker, a busy one) is left out. */
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
  // The wait itself reports errors.
  if (options.showState) void showStates().catch(() => undefined);
  // While watching, the state reports failed polls.
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
    // Read in a function: TypeScript narrows `signal.aborted` to false after the loop condition.
    if (!hasEnded(signal)) view.tries(tries);
  }
}

/** The current try of an activity and why the last one failed; undefined for first tries. */
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
