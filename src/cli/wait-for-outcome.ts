import { setTimeout as delay } from 'node:timers/promises';
import { type Started } from '../client';
import { CliError } from './cli-error';
import { type Connected } from './connect';
import { EXIT } from './exit-codes';
import { failureOf } from './failure-of';
import { onInterruption } from './interruption';
import { type Report } from './report';
import { statusLine } from './status-line';

const STATE_EVERY_MS = 1_500;

export interface WaitForOutcomeOptions {
  readonly connected: Connected;
  readonly report: Report;
  /** How to come back to it after Ctrl-C or a lost server. */
  readonly resumeHint: string;
  /** Whether the workflow answers the query `video_state`. */
  readonly showState: boolean;
}

/**
 * Waits for a workflow's outcome and shows what it does. Ctrl-C detaches: the workflow goes on and is never cancelled.
 * @throws CliError with exit code 130 when interrupted
 */
export async function waitForOutcome<Outcome>(
  started: Started<Outcome>,
  options: WaitForOutcomeOptions,
): Promise<Outcome> {
  const interruption = onInterruption();
  const over = new AbortController();
  if (options.showState) void showState(started.workflowId, options, over.signal);
  try {
    const result = started.result().then((outcome) => ({ outcome }));
    const first = await Promise.race([result, interruption.happened]);
    if (first !== undefined) return first.outcome;
    result.catch(() => undefined);
    throw new CliError('interrupted', 'Detached. The workflow goes on; nothing was cancelled.', {
      hint: options.resumeHint,
      data: { workflowId: started.workflowId },
    });
  } catch (error) {
    throw withResumeHint(error, started.workflowId, options.resumeHint);
  } finally {
    interruption.dispose();
    over.abort();
  }
}

function withResumeHint(error: unknown, workflowId: string, hint: string): unknown {
  if (error instanceof CliError) return error;
  const { exitCode, reply } = failureOf(error);
  if (exitCode === EXIT.unreachable) {
    return CliError.from({ ...reply, hint: `${reply.hint} Then: ${hint}` }, { workflowId });
  }
  if ((error as Error).name !== 'WorkflowFailedError') return error;
  const cause = (error as Error).cause;
  const detail = cause instanceof Error ? `${cause.name}: ${cause.message}` : 'it ended without an outcome';
  const message = `The workflow ${workflowId} ended without an outcome (${detail}).`;
  return new CliError('workflow_ended', message, { hint, data: { workflowId } });
}

/** Prints the state when it changes. A state that cannot be had (no worker, a busy one) is no reason to stop. */
async function showState(
  workflowId: string,
  { connected, report }: WaitForOutcomeOptions,
  over: AbortSignal,
): Promise<void> {
  let last = '';
  while (!over.aborted) {
    await pause(STATE_EVERY_MS, over);
    if (over.aborted) return;
    const state = await connected.media.videoState(workflowId).catch(() => undefined);
    if (state === undefined || over.aborted) continue;
    const line = statusLine(state);
    if (line !== last) report.say(line);
    last = line;
  }
}

async function pause(ms: number, over: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal: over }).catch(() => undefined);
}
