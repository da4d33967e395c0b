import { type Started } from '../client';
import { type VideoState } from '../domain/video-state';
import { CliError } from './cli-error';
import { type Connected } from './connect';
import { EXIT } from './exit-codes';
import { failureOf } from './failure-of';
import { type Interruption } from './interruption';
import { type Report } from './report';
import { showProgress } from './show-progress';

export interface WaitForOutcomeOptions {
  readonly connected: Connected;
  readonly report: Report;
  readonly interruption: Interruption;
  /** How to come back to it after Ctrl-C or a lost server. */
  readonly resumeHint: string;
  /** Whether the workflow answers the query `video_state`. */
  readonly showState: boolean;
  /** Longest wait of the person, in milliseconds. @default as long as the workflow takes */
  readonly waitMs?: number | undefined;
}

/** How a wait ended: with the outcome, or before it, and then with the last state that was seen. */
export type Waited<Outcome> =
  | { readonly kind: 'ended'; readonly outcome: Outcome }
  | { readonly kind: 'left'; readonly state: VideoState | null };

/**
 * A video whose wait is over says so itself, after a last poll: its outcome says more than that the command has left.
 * What hangs elsewhere, in a create, a poll or a download, is left after this.
 */
const LAST_ANSWER_MS = 15_000;
/** Longest span that a timer of Node can count; nobody waits that long in front of a terminal. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Waits for a workflow's outcome and shows what it does. Ctrl-C detaches, and so does the end of `waitMs`: the workflow
 * goes on and is never cancelled.
 * @throws CliError with exit code 130 when interrupted
 */
export async function waitForOutcome<Outcome>(
  started: Started<Outcome>,
  options: WaitForOutcomeOptions,
): Promise<Waited<Outcome>> {
  const { workflowId } = started;
  const over = new AbortController();
  const shown = showProgress(workflowId, options, over.signal);
  const patience = patienceOf(options.waitMs);
  try {
    const result = started.result().then((outcome) => ({ kind: 'ended', outcome }) as const);
    const left = patience.over.then(() => ({ kind: 'left', state: shown.state() }) as const);
    const first = await Promise.race([result, left, options.interruption.happened]);
    if (first?.kind === 'ended') return first;
    result.catch(() => undefined);
    if (first !== undefined) return first;
    throw new CliError('interrupted', 'Detached. The workflow goes on; nothing was cancelled.', {
      hint: `Go on with: ${options.resumeHint}`,
      data: { workflowId },
    });
  } catch (error) {
    throw withResumeHint(error, workflowId, options.resumeHint);
  } finally {
    patience.dispose();
    // What is asked at this moment is not waited for: it may be what hangs.
    over.abort();
    shown.stop();
  }
}

/** Resolves when a wait of this length, with the time for its last answer, is over. */
function patienceOf(waitMs: number | undefined): { readonly over: Promise<void>; dispose(): void } {
  const ms = (waitMs ?? Infinity) + LAST_ANSWER_MS;
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    if (ms <= LONGEST_TIMER_MS) timer = setTimeout(resolve, ms);
  });
  return { over, dispose: () => clearTimeout(timer) };
}

function withResumeHint(error: unknown, workflowId: string, hint: string): unknown {
  if (error instanceof CliError && error.reply.type === 'interrupted') return error;
  const { exitCode, reply } = failureOf(error);
  if (exitCode === EXIT.unreachable) {
    return CliError.from({ ...reply, hint: `${reply.hint} Then: ${hint}` }, { workflowId });
  }
  if ((error as Error).name !== 'WorkflowFailedError') return error;
  const cause = (error as Error).cause;
  const detail = cause instanceof Error ? `${cause.name}: ${cause.message}` : 'it ended without an outcome';
  const message = `The workflow ${workflowId} ended without an outcome (${detail}).`;
  return new CliError('workflow_ended', message, { hint: `Go on with: ${hint}`, data: { workflowId } });
}
