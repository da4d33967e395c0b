import { ActivityFailure, CancellationScope, isCancellation } from '@temporalio/workflow';
import { billing, type Money } from '../domain/billing';
import { type DownloadVideoResult } from '../domain/download';
import { type VideoOutcome } from '../domain/outcome';
import { outcomes, type VideoEnd } from '../domain/outcomes';
import { type PolledRecord } from '../domain/poll-answers';
import { type WatchState, type WatchVerdict } from '../domain/poll-watch';
import { downloadVideoActivity } from './proxies';
import { withTimeLimit } from './time-limit';

export interface FinishOptions {
  readonly estimate: Money | null;
  readonly creationKey: string | null;
  readonly warnings: readonly string[];
  readonly mayBeOwed?: true;
  readonly downloadQueue: string;
  readonly sidecarPrompt?: string | undefined;
  readonly onDownload?: () => void;
}

/** From the verdict of a watch to the outcome: only a completed task is downloaded (C3.2). */
export async function finishVideo(
  verdict: WatchVerdict,
  state: WatchState,
  options: FinishOptions,
): Promise<VideoOutcome> {
  const end: VideoEnd = {
    video: state.video,
    estimate: options.estimate,
    state,
    ...(options.mayBeOwed === true && { mayBeOwed: true }),
  };
  switch (verdict.kind) {
    case 'still_running':
      return outcomes.stillRunning(end);
    case 'task_unknown':
      return outcomes.taskUnknown(end);
    case 'failed':
      return outcomes.failed(end, verdict.error, verdict.record.usage);
    case 'completed':
      return download(verdict.record, end, options);
  }
}

async function download(record: PolledRecord, end: VideoEnd, options: FinishOptions): Promise<VideoOutcome> {
  options.onDownload?.();
  const fetch = downloadVideoActivity({ taskQueue: options.downloadQueue, summary: 'download' });
  const limit = end.state.hardEndAt;
  try {
    const input = {
      video: end.video,
      ...(options.sidecarPrompt === undefined ? {} : { sidecarPrompt: options.sidecarPrompt }),
    };
    const result = await (limit === null
      ? fetch(input)
      : withTimeLimit(Math.max(1, limit - Date.now()), 'limit of the download', () => fetch(input)));
    return ofDownload(result, record, end, options);
  } catch (error) {
    if (isCancellation(error) && CancellationScope.current().consideredCancelled) {
      return outcomes.cancelled(
        end.video,
        options.creationKey,
        billing(options.estimate, 'needs_review', record.usage),
      );
    }
    if (!isCancellation(error) && !(error instanceof ActivityFailure)) throw error;
    // The execution is about to expire, or no worker could finish the download: nothing is known against the file, the
    // task is kept, and a later await fetches it (architecture: Wait).
    return outcomes.stillRunning(end, record.status);
  }
}

function ofDownload(
  result: DownloadVideoResult,
  record: PolledRecord,
  end: VideoEnd,
  options: FinishOptions,
): VideoOutcome {
  return result.outcome === 'downloaded'
    ? outcomes.completed(end, result, record, options.warnings)
    : outcomes.contentUnavailable(end, result, record.usage);
}
