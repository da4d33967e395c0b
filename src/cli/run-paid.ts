import { type ArtifactStore } from '../artifacts/artifact-store';
import { type Started, type TemporalMediaClient } from '../client';
import { type MediaConfig } from '../config';
import { type ImageOutcome, type VideoOutcome } from '../domain/outcome';
import { type VideoState } from '../domain/video-state';
import { answerLeft } from './answer-left';
import { isAttached } from './child-process';
import { connect, type Connected } from './connect';
import { type CommandContext } from './context';
import { CliError, failureOf } from './errors';
import { EXIT } from './exit-codes';
import { answerOutcome } from './outcome-report';
import { warnIfPaused } from './paused';
import { requireSameStore } from './same-store';
import { prepareOut, type SavedResults, saveResults } from './save-results';
import { showProgress, type ShowProgressOptions } from './show-progress';

/** One start of a workflow whose outcome becomes the answer of the command. */
export interface Run {
  readonly config: MediaConfig;
  readonly store: ArtifactStore;
  readonly out: string;
  /** What the files are called after. */
  readonly id: string;
  readonly env: NodeJS.ProcessEnv;
  readonly detach?: boolean;
  /** Longest wait of the person, in milliseconds. @default as long as the workflow takes */
  readonly waitMs?: number | undefined;
  /** Whether files of this machine belong to the request. @default false */
  readonly sendsFiles?: boolean;
  readonly resumeHint: string;
  /** Whether the workflow answers `video_state`. */
  readonly showState: boolean;
  /** Told before the start, with the id: whoever loses this process can still find the work. */
  readonly announce: string;
  start(media: TemporalMediaClient): Promise<Started<VideoOutcome | ImageOutcome>>;
}

/** Starts or attaches, waits, saves the files, answers. @throws CliError */
export async function runPaid(context: CommandContext, run: Run): Promise<void> {
  const { report } = context;
  const directory = run.detach === true ? run.out : await prepareOut(run.out);
  report.say(run.announce);
  const interruption = onInterruption();
  let connected: Connected | undefined;
  try {
    connected = await unlessInterrupted(connect(run.config, run.env), interruption, run.resumeHint);
    const hasWorker = await warnWithoutWorker(context, connected);
    if (run.detach !== true || run.sendsFiles === true) {
      const asked = requireSameStore(connected, run.store, { report, hasWorker });
      await unlessInterrupted(asked, interruption, run.resumeHint);
    }
    const started = await unlessInterrupted(run.start(connected.media), interruption, run.resumeHint);
    const { workflowId, runId, isNew } = started;
    const url = connected.workflowUrl(workflowId);
    report.say(`${isNew ? 'Started' : 'Attached to'} ${workflowId}${url === undefined ? '' : ` (${url})`}.`);
    if (!isNew) await warnIfPaused(connected, report, workflowId);
    const facts = { workflowId, runId, isNew, ...(url !== undefined && { url }) };
    report.event('started', facts);
    if (run.detach === true) {
      report.result(workflowId);
      report.say(`Go on with: ${run.resumeHint}`);
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
    await connected?.close().catch(() => undefined);
  }
}

/** Ctrl-C before the start was confirmed: whether it was started is not known, but a start is never undone. */
export async function unlessInterrupted<T>(
  work: Promise<T>,
  { happened }: Interruption,
  resumeHint: string,
): Promise<T> {
  const first = await Promise.race([work.then((value) => ({ value })), happened]);
  if (first !== undefined) return first.value;
  work.catch(() => undefined);
  const message =
    'Interrupted before the start was confirmed. If it was started it goes on; nothing was cancelled.';
  throw new CliError('interrupted', message, { hint: `Look for it with: ${resumeHint}` });
}

/** Says that what is started will wait, where no worker serves the queue. @returns whether one may be there */
export async function warnWithoutWorker({ report }: CommandContext, connected: Connected): Promise<boolean> {
  if ((await connected.hasWorker()) !== false) return true;
  report.say(
    `${report.paint('warn', 'warning:')} no worker serves the task queue ${connected.taskQueue}; this waits until one does (\`temporal-media worker\` or \`temporal-media dev\`).`,
  );
  return false;
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
    // Whatever could not be saved: the outcome is paid for, and its answer must not hide it.
    throw CliError.from(failureOf(problem).reply, { ...outcome, workflowId, files: [] });
  }
  answerOutcome(context, outcome, workflowId, files);
}

interface WaitForOutcomeOptions extends ShowProgressOptions {
  readonly interruption: Interruption;
  /** How to come back to it after Ctrl-C or a lost server. */
  readonly resumeHint: string;
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

export interface Interruption {
  /** Resolves at the first SIGINT or SIGTERM, or when the parent is gone that started this process and speaks for it. */
  readonly happened: Promise<void>;
  /** Back to the system's own handling. */
  dispose(): void;
}

/** Catches the first interruption; a second one ends the process as the system does it. */
export function onInterruption(): Interruption {
  let stop: () => void = () => undefined;
  const happened = new Promise<void>((resolve) => {
    const handler = (): void => {
      stop();
      resolve();
    };
    const attached = isAttached();
    const watch = watchNpm(handler);
    stop = () => {
      clearInterval(watch);
      process.off('SIGINT', handler).off('SIGTERM', handler).off('disconnect', handler);
    };
    process.on('SIGINT', handler).on('SIGTERM', handler);
    if (attached) process.on('disconnect', handler);
  });
  return { happened, dispose: () => stop() };
}

/** How often a process that npm has started looks whether npm is still there. */
const LOOK_MS = 500;

/**
 * npx and `npm run` end at SIGTERM without passing it on: what they started is then nobody's, and would stay. Any other
 * parent may go: whoever starts a command in the background of a shell wants it to outlive that.
 */
function watchNpm(gone: () => void): NodeJS.Timeout | undefined {
  if (!process.env['npm_command']) return undefined;
  const parent = process.ppid;
  return setInterval(() => {
    if (process.ppid !== parent) gone();
  }, LOOK_MS).unref();
}
