import { warnIfPaused } from './paused';
import { type ArtifactStore } from '../artifacts/artifact-store';
import { type Started, type TemporalMediaClient } from '../client';
import { type MediaConfig } from '../config';
import { type ImageOutcome, type VideoOutcome } from '../domain/outcome';
import { answerLeft } from './answer-left';
import { answerOutcome } from './answer-outcome';
import { CliError } from './cli-error';
import { type CommandContext } from './command-context';
import { connect, type Connected } from './connect';
import { failureOf } from './failure-of';
import { type Interruption, onInterruption } from './interruption';
import { prepareOut } from './result-files';
import { requireSameStore } from './same-store';
import { saveResults, type SavedResults } from './save-results';
import { waitForOutcome } from './wait-for-outcome';

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
