import { type Info } from '@temporalio/activity';
import { ArtifactError, toArtifactError } from '../artifacts/artifact-error';
import { type DownloadVideoResult } from '../domain/download';
import { type DownloadBounds } from '../domain/download-bounds';
import { type PollErrorClass } from '../domain/poll-answers';
import { type VideoTask } from '../domain/video-task';
import { type GetVideoResult } from '../service/media-client';
import { type DownloadTry } from './download-place';
import { type DownloadProblem } from './download-problem';
import { differences } from './download-sidecar';
import { type DownloadedVideo, type TryResult, tryPlaces } from './download-try';

/** A video that is verified and stored, with what its record said at that time. */
export interface FetchedVideo {
  readonly video: DownloadedVideo;
  readonly record: GetVideoResult;
}

/** The server ends an attempt at startToClose: a try stops by itself before that. */
const CLOSE_MARGIN_MS = 10_000;

/** Milliseconds that the tries of one activity execution may take. */
export function tryBudget(info: Info, bounds: DownloadBounds): number {
  return Math.min(
    bounds.tryDeadlineMs,
    Math.max(info.startToCloseTimeoutMs - CLOSE_MARGIN_MS, info.startToCloseTimeoutMs / 2),
  );
}

/** Whether the worker ends, and not the wish for the video. */
export function isShutdown({ aborted, reason }: AbortSignal): boolean {
  return aborted && (reason as { message?: unknown } | undefined)?.message === 'WORKER_SHUTDOWN';
}

export const NO_ACCOUNT: DownloadProblem = {
  kind: 'account_not_configured',
  message: 'This worker does not have the account of the task: nothing was asked. The task is kept.',
};

/** One try for one video, alone or in a group: its record, then every place of its result. Storage is a problem, too. */
export async function downloadOnce(
  turn: DownloadTry,
  taskId: string,
): Promise<FetchedVideo | { readonly problem: DownloadProblem; readonly lives: boolean }> {
  const record = await turn.client.getVideo(taskId, { signal: turn.signal, purpose: 'content' });
  const result = await places(turn, taskId, record);
  if ('video' in result) return { video: result.video, record };
  // A service that answers nothing at all has said nothing against it: this is asked for completed tasks only.
  const isKept = record.kind === 'record' ? record.record.phase === 'completed' : isAway(record.error);
  const problem = expired(result.problem, record, turn.now());
  return { problem, lives: isKept && problem.final !== true && !turn.flowed };
}

/** Clocks differ by less. */
const CLOCK_MARGIN_MS = 60_000;

/** What the service has no more, after the time until which its record says that it is kept, will not come back. */
function expired(problem: DownloadProblem, record: GetVideoResult, now: number): DownloadProblem {
  const until = record.kind === 'record' ? record.record.expiresAt : undefined;
  if (until === undefined || (problem.kind !== 'missing' && problem.kind !== 'expired')) return problem;
  if (now < Date.parse(until) + CLOCK_MARGIN_MS) return problem;
  const status = problem.httpStatus === undefined ? '' : ` (HTTP ${problem.httpStatus})`;
  const message = `The service kept the result until ${until} and has it no more${status}.`;
  return { ...problem, kind: 'expired', final: true, message };
}

const AWAY: ReadonlySet<PollErrorClass> = new Set(['network', 'rate_limited', 'unavailable']);
const isAway = (error: PollErrorClass): boolean => AWAY.has(error);

async function places(turn: DownloadTry, taskId: string, record: GetVideoResult): Promise<TryResult> {
  try {
    return await tryPlaces(turn, taskId, record);
  } catch (error) {
    if (!(error instanceof ArtifactError) && typeof (error as { code?: unknown }).code !== 'string')
      throw error;
    return { problem: { kind: 'storage', message: toArtifactError(error).message } };
  }
}

type Facts = Omit<Extract<DownloadVideoResult, { outcome: 'downloaded' }>, 'outcome' | 'sidecar'>;

/** What is known of a stored video: its file, what the service reported, and where the two differ (C2.2.5). */
export function factsOf(task: VideoTask, { video, record }: FetchedVideo): Facts {
  const { reported = {}, usage } = record.kind === 'record' ? record.record : {};
  const warnings = [...video.warnings, ...differences(task, reported, video.facts)];
  if (record.kind === 'error')
    warnings.push('The record could not be read: reported facts and usage are unknown.');
  return { artifact: video.artifact, reported, ...(usage === undefined ? {} : { usage }), warnings };
}
