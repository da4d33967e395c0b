import { setTimeout as delay } from 'node:timers/promises';
import { type ImageOutcome, type VideoOutcome, type VideoState } from 'temporal-media';
import { type Started, type TemporalMediaClient } from 'temporal-media/client';
import { plainClient, readQueueBinding } from 'temporal-media/internal/activities/binding/bind-journal';
import { otherwise } from 'temporal-media/internal/domain/bug';
import { type ArtifactStore } from 'temporal-media/stores';
import { type ActivityQueueKind, type MediaConfig } from 'temporal-media/worker';
import { connect, type Connected } from './connect';
import { type CommandContext } from './context';
import { CliError, failureOf } from './errors';
import { viewExecution, viewStandalone } from './execution-state';
import { EXIT } from './exit-codes';
import { failingTask } from './held-workflow';
import { type Interruption, onInterruption } from './interruption';
import { answerLeft, answerOutcome } from './outcome-report';
import { prepareOut, type SavedResults, saveResults } from './output-files';
import { warnIfPaused, progressView, type ProgressView } from './progress-view';
import { requireReadableResults } from './readable-results';
import { type Report } from './report';

/** A workflow start whose outcome becomes the command's result. */
export interface Run {
  readonly config: MediaConfig;
  readonly store: ArtifactStore;
  readonly out: string;
  /** The files' base name. */
  readonly id: string;
  readonly env: NodeJS.ProcessEnv;
  readonly detach?: boolean;
  /** The command's maximum wait, in milliseconds. @default no limit */
  readonly waitMs?: number | undefined;
  /** Whether the request contains files from this machine. @default false */
  readonly sendsFiles?: boolean;
  readonly resumeHint: string;
  /** Whether the workflow answers the `video_state` query. */
  readonly showState: boolean;
  /** Activity queues that the workflow may need. */
  readonly needs: readonly ActivityQueueKind[];
  /**
   * A line that is printed before the start. It contains the id, so that the workflow can be found if this process
   * dies.
   */
  readonly announce: string;
  start(media: TemporalMediaClient): Promise<Started<VideoOutcome | ImageOutcome>>;
}

/** Starts or attaches to a workflow, waits, saves the files and prints the outcome. @throws CliError */
export async function runPaid(context: CommandContext, run: Run): Promise<void> {
  const { report } = context;
  const directory = run.detach === true ? run.out : await prepareOut(run.out);
  report.say(run.announce);
  const interruption = onInterruption();
  try {
    const connected = await unlessInterrupted(connect(run.config, run.env), interruption, run.resumeHint);
    const hasWorker = await warnWithoutWorker(context, connected, run.needs);
    const readable = requireReadableResults(connected, hasWorker);
    await unlessInterrupted(readable, interruption, run.resumeHint);
    if (run.detach !== true || run.sendsFiles === true) {
      const asked = requireSameStore(connected, run.store, { report, hasWorker });
      await unlessInterrupted(asked, interruption, run.resumeHint);
    }
    const started = await unlessInterrupted(run.start(connected.media), interruption, run.resumeHint);
    const { workflowId, runId, isNew } = started;
    const url = started.as === 'workflow' ? connected.workflowUrl(workflowId) : undefined;
    report.say(`${isNew ? 'Started' : 'Attached to'} ${workflowId}${url === undefined ? '' : ` (${url})`}.`);
    if (!isNew) await warnIfPaused(connected, report, started);
    const facts = { as: started.as, workflowId, runId, isNew, ...(url !== undefined && { url }) };
    report.event('started', facts);
    if (run.detach === true) {
      report.result(workflowId);
      report.say(`Continue with: ${run.resumeHint}`);
      report.reply({ ok: true, data: facts });
      return;
    }
    const { resumeHint, showState, waitMs } = run;
    const wait = { connected, report, interruption, resumeHint, showState, waitMs };
    const waited = await waitForOutcome(started, wait);
    interruption.dispose();
    if (waited.kind === 'left') return answerLeft(context, { ...facts, state: waited.state }, resumeHint);
    await answer(context, run, { workflowId, outcome: waited.outcome, directory });
  } finally {
    interruption.dispose();
  }
}

/**
 * Rejects on Ctrl-C before the start is confirmed. It is then unknown whether the workflow was started, and a start
 * cannot be undone.
 */
export async function unlessInterrupted<T>(
  work: Promise<T>,
  { happened }: Interruption,
  resumeHint: string,
): Promise<T> {
  const first = await Promise.race([work.then((value) => ({ value })), happened]);
  if (first !== undefined) return first.value;
  work.catch(() => undefined);
  const message =
    'Interrupted before the start was confirmed. If the workflow was started, it keeps running; nothing was canceled.';
  throw new CliError('interrupted', message, { hint: `To check, run: ${resumeHint}` });
}

/**
 * Warns if no worker polls the queue or a required activity queue, because the workflow would have to wait.
 * @returns whether a worker may be polling the queue itself
 */
export async function warnWithoutWorker(
  { report }: CommandContext,
  connected: Connected,
  needs: readonly ActivityQueueKind[],
): Promise<boolean> {
  const warn = (text: string): void => report.say(`${report.paint('warn', 'warning:')} ${text}`);
  const [hasWorker, unserved] = await Promise.all([connected.hasWorker(), connected.unserved(needs)]);
  if (hasWorker === false) {
    warn(
      `no worker is polling task queue ${connected.taskQueue}. The workflow waits until you start one (\`temporal-media worker\` or \`temporal-media dev\`).`,
    );
    return false;
  }
  if (unserved.length > 0) {
    warn(
      `workers are polling task queue ${connected.taskQueue}, but none is polling ${unserved.join(', ')}. The workflow waits until one does (\`temporal-media doctor\` shows details).`,
    );
  }
  return true;
}

interface Finished {
  readonly workflowId: string;
  readonly outcome: VideoOutcome | ImageOutcome;
  readonly directory: string;
}

async function answer(context: CommandContext, run: Run, finished: Finished): Promise<void> {
  const { workflowId, outcome } = finished;
  let files: SavedResults;
  try {
    files = await saveResults(run.store, { ...finished, id: run.id });
  } catch (problem) {
    // The outcome is paid for, so it is printed even if its files cannot be saved.
    throw CliError.from(failureOf(problem).reply, { ...outcome, workflowId, files: [] });
  }
  answerOutcome(context, outcome, workflowId, files);
}

interface WaitForOutcomeOptions extends ShowProgressOptions {
  readonly interruption: Interruption;
  /** How to continue after Ctrl-C or a lost connection. */
  readonly resumeHint: string;
  /** The command's maximum wait, in milliseconds. @default no limit */
  readonly waitMs?: number | undefined;
}

/** How a wait ended: with the outcome or, without one, with the last known state. */
export type Waited<Outcome> =
  | { readonly kind: 'ended'; readonly outcome: Outcome }
  | { readonly kind: 'left'; readonly state: VideoState | null };

/**
 * Extra milliseconds that the command waits after the workflow's wait ends. During this time, the workflow polls one
 * last time and returns an outcome with more detail. If that poll hangs, the command answers with the last state
 * instead.
 */
const LAST_ANSWER_MS = 2_000;
/** Maximum delay of a Node timer, in milliseconds. A longer wait is unlimited. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Waits for a workflow's outcome and shows its progress. Ctrl-C or the end of `waitMs` detaches: the workflow keeps
 * running and is never canceled.
 * @throws CliError with exit code 130 when interrupted
 */
export async function waitForOutcome<Outcome>(
  started: Started<Outcome>,
  options: WaitForOutcomeOptions,
): Promise<Waited<Outcome>> {
  const { workflowId } = started;
  const over = new AbortController();
  const shown = showProgress(started, options, over.signal);
  const waitLimit = startWaitLimit(options.waitMs);
  try {
    const result = started.result().then((outcome) => ({ kind: 'ended', outcome }) as const);
    const left = waitLimit.over.then(() => ({ kind: 'left', state: shown.state() }) as const);
    const first = await Promise.race([result, left, options.interruption.happened]);
    if (first?.kind === 'ended') return first;
    result.catch(() => undefined);
    if (first !== undefined) return first;
    throw new CliError('interrupted', 'Detached. The workflow keeps running; nothing was canceled.', {
      hint: `Continue with: ${options.resumeHint}`,
      data: { workflowId },
    });
  } catch (error) {
    throw withResumeHint(error, workflowId, options.resumeHint);
  } finally {
    waitLimit.dispose();
    // Do not await a query in progress, because it may hang.
    over.abort();
    shown.stop();
  }
}

/** Resolves after `waitMs` and the extra time for a last answer. Never resolves without `waitMs`. */
function startWaitLimit(waitMs: number | undefined): { readonly over: Promise<void>; dispose(): void } {
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
  const { name } = error as Error;
  if (name !== 'WorkflowFailedError' && name !== 'ActivityExecutionFailedError') return error;
  const cause = (error as Error).cause;
  const detail = cause instanceof Error ? `${cause.name}: ${cause.message}` : 'it ended without an outcome';
  const what = name === 'WorkflowFailedError' ? 'Workflow' : 'Activity';
  const message = `${what} ${workflowId} ended without an outcome (${detail}).`;
  return new CliError('workflow_ended', message, { hint: `Continue with: ${hint}`, data: { workflowId } });
}

/** Interval between reads of activity attempts, in milliseconds. */
const TRIES_MS = 2_000;

export interface ShowProgressOptions {
  readonly connected: Connected;
  readonly report: Report;
  /** Whether the workflow answers the `video_state` query. */
  readonly showState: boolean;
}

/** Access to the progress that is shown during a wait. */
export interface ShownProgress {
  /** Returns the last known state. Null before the first one, and for a workflow without the query. */
  state(): VideoState | null;
  stop(): void;
}

/**
 * Shows every state and retry until the signal aborts. Skips anything that cannot be read because no worker is free.
 */
export function showProgress(
  { as, workflowId }: Pick<Started<unknown>, 'as' | 'workflowId'>,
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
  // The wait for the outcome reports the error.
  if (options.showState) void showStates().catch(() => undefined);
  // While the video is being polled, its state already shows failed polls.
  const isKnown = (): boolean => last?.phase === 'watching' || last?.phase === 'done';
  void showTries({ as, workflowId }, { ...options, view, isKnown }, signal).catch(() => undefined);
  return { state: () => last, stop: () => view.stop() };
}

interface TriesOptions extends Pick<ShowProgressOptions, 'connected'> {
  readonly view: ProgressView;
  readonly isKnown: () => boolean;
}

async function showTries(
  execution: Pick<Started<unknown>, 'as' | 'workflowId'>,
  { connected, view, isKnown }: TriesOptions,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await delay(TRIES_MS, undefined, { signal });
    const tries = isKnown() ? undefined : await triesOf(execution, connected);
    // Checked in a function, because TypeScript narrows `signal.aborted` to false after the loop condition.
    if (!hasEnded(signal)) view.tries(tries);
  }
}

/**
 * Describes a retry of an activity or of the workflow's code, and why the last attempt failed. Undefined if nothing is
 * being retried.
 */
async function triesOf(
  { as, workflowId }: Pick<Started<unknown>, 'as' | 'workflowId'>,
  { client }: ShowProgressOptions['connected'],
): Promise<string | undefined> {
  const activities =
    as === 'activity'
      ? [await viewStandalone(client, workflowId).catch(otherwise(undefined))]
      : (await viewExecution(client, workflowId, () => undefined).catch(otherwise(undefined)))
          ?.pendingActivities;
  const again = activities?.find((one) => (one?.attempt ?? 1) > 1);
  if (again !== undefined)
    return `attempt ${again.attempt}, the last one failed: ${again.lastFailure ?? 'unknown reason'}`;
  if (as !== 'workflow') return undefined;
  return (await failingTask(client, workflowId).catch(otherwise(undefined)))?.why;
}

function hasEnded(signal: AbortSignal): boolean {
  return signal.aborted;
}

/** Maximum time to wait for a worker, in milliseconds. An idle worker responds immediately. */
const WORKER_MS = 15_000;

/**
 * Checks, before anything is started, that this command uses the workers' artifact store: in another store, it could
 * not find paid results. @throws CliError `other_artifact_store`
 */
async function requireSameStore(
  connected: Connected,
  store: ArtifactStore,
  { report, hasWorker }: { readonly report: Report; readonly hasWorker: boolean },
): Promise<void> {
  const { taskQueue } = connected;
  const storeId = await storeOfWorkers(connected, hasWorker);
  if (storeId === undefined) {
    report.say(
      `${report.paint('warn', 'warning:')} no worker on ${taskQueue} has reported its artifact store, so this command may be unable to find the files.`,
    );
    return;
  }
  if (storeId === null || storeId === (await store.identity?.())) return;
  throw new CliError(
    'other_artifact_store',
    `The worker on task queue ${taskQueue} uses a different artifact store than this command (MEDIA_ARTIFACTS), so neither can find the other's files. Nothing was started.`,
  );
}

/**
 * Returns the id of the workers' store from the queue binding or a worker's query. Null for a store without an id.
 */
async function storeOfWorkers(
  { media, client, taskQueue }: Connected,
  hasWorker: boolean,
): Promise<string | null | undefined> {
  const found = await readQueueBinding(plainClient(client), taskQueue).catch(otherwise(undefined));
  const bound = found?.queueBinding.artifacts;
  if (typeof bound === 'string') return bound;
  if (!hasWorker) return undefined;
  return (await media.artifactStore({ timeoutMs: WORKER_MS }).catch(otherwise(undefined)))?.storeId;
}
