import { type Started } from '../client';
import { CliError } from './cli-error';
import { type Connected } from './connect';
import { EXIT } from './exit-codes';
import { failureOf } from './failure-of';
import { type Interruption } from './interruption';
import { progressView } from './progress-view';
import { type Report } from './report';

export interface WaitForOutcomeOptions {
  readonly connected: Connected;
  readonly report: Report;
  readonly interruption: Interruption;
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
  const over = new AbortController();
  const shown = options.showState ? showState(started.workflowId, options, over.signal) : undefined;
  try {
    const result = started.result().then((outcome) => ({ outcome }));
    const first = await Promise.race([result, options.interruption.happened]);
    if (first !== undefined) return first.outcome;
    result.catch(() => undefined);
    throw new CliError('interrupted', 'Detached. The workflow goes on; nothing was cancelled.', {
      hint: `Go on with: ${options.resumeHint}`,
      data: { workflowId: started.workflowId },
    });
  } catch (error) {
    throw withResumeHint(error, started.workflowId, options.resumeHint);
  } finally {
    over.abort();
    await shown;
  }
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

/** Shows every state until it is over. A state that cannot be had (no worker, a busy one) is no reason to stop. */
async function showState(
  workflowId: string,
  { connected, report }: WaitForOutcomeOptions,
  signal: AbortSignal,
): Promise<void> {
  const view = progressView(report);
  try {
    for await (const state of connected.media.watch(workflowId, { signal })) {
      report.event('state', { workflowId, state });
      view.update(state);
    }
  } catch {
    // The wait itself says what is wrong.
  } finally {
    view.stop();
  }
}
