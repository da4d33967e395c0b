import { ActivityFailure } from '@temporalio/workflow';
import { type DownloadVideosResult } from '../../domain/campaign/campaign-activities';
import { DELIVERY, type Downloaded } from '../../domain/download';
import { outcomeOfDownload, outcomeOfWatch, type WaitOrigin, type WatchEnd } from '../../domain/end-of-wait';
import { ACTIVITY } from '../../domain/names';
import { type CreatedVideo } from '../../domain/paid-call';
import { type PolledRecord } from '../../domain/poll-answers';
import { PACE } from '../../domain/poll-cadence';
import { type VideoTask } from '../../domain/video-task';
import { beginWatch, type Watch, type WatchState } from '../../domain/watch-state';
import { downloadVideo } from '../await-video';
import { type PollEnd, PollLoop } from '../poll-loop';
import { activity } from '../proxies';
import { limitKeyOf, type Row, sinceOf } from './batch-rows';
import { type BatchWork } from './batch-work';
import { endOrRetry } from './end-row';

interface WatchedRow extends Watch {
  readonly row: Row;
}

interface FinishedRow {
  readonly row: Row;
  readonly state: WatchState;
  readonly record: PolledRecord;
}

/** The rows whose tasks exist. One loop polls all of the tasks, and finished videos are downloaded in groups. */
export class Watches {
  private readonly loop: PollLoop<WatchedRow>;
  private readonly queue: FinishedRow[] = [];
  private readonly shared = new SharedValues();
  private openGroups = 0;
  private fetching = 0;
  private open = 0;

  constructor(private readonly batch: BatchWork) {
    this.loop = new PollLoop({
      taskQueue: batch.input.settings.queues.poll,
      pace: PACE.batch,
      onTick: batch.wake,
      onEnd: (watch, end) => this.ended(watch, end),
    });
  }

  /** Starts watching a task, whether it was created just now or earlier. */
  begin(row: Row, created: CreatedVideo, now: number): void {
    const video = this.shared.task(created.video);
    row.created = {
      video,
      estimate: this.shared.of(created.estimate),
      warnings: created.warnings,
      ...(created.mayBeOwed === true && { mayBeOwed: true }),
    };
    const { started: polledAt } = row.set.set;
    const isHandedBack = polledAt !== undefined && row.attempt === row.opened.started;
    const since = (isHandedBack ? sinceOf(row.opened) : undefined) ?? now;
    const deadlineAt = since + this.batch.input.settings.waitForMs;
    const { firstPollSeconds, minSeconds } = video.polling;
    // A task that was bought earlier may be ready, and another batch may have just polled it.
    const firstPollAt = created.sent
      ? now + firstPollSeconds * 1000
      : Math.max(now, (polledAt ?? now) + minSeconds * 1000);
    this.watch(row, beginWatch({ video, now, deadlineAt, firstPollAt, lastStatus: created.status }));
  }

  /** Whether all recent polls failed. If so, the service is considered unavailable, and nothing new is bought. */
  serviceIsAway(): boolean {
    const states = this.loop.states().filter(({ lastPollAt, errors }) => lastPollAt !== null || errors > 0);
    return states.length > 0 && states.every(({ errors }) => errors > 0);
  }

  backlog(): number {
    return this.queue.length;
  }

  isFetching(): boolean {
    return this.fetching > 0;
  }

  download(): void {
    while (this.openGroups < DELIVERY.open && this.queue.length > 0) {
      this.openGroups += 1;
      void this.fetch(this.queue.splice(0, DELIVERY.videos));
    }
  }

  /** Stops the loop, at the end of its tick if one is in progress. @returns whether it has stopped */
  stop(): boolean {
    this.loop.stop();
    return this.open === 0;
  }

  /** Returns the workflow time of the last poll of any row; 0 before the first poll. */
  lastTickAt(): number {
    return this.loop.lastTick().lastTickAt;
  }

  private watch(row: Row, state: WatchState): void {
    row.phase = 'watching';
    this.open += 1;
    const watch = { row, state };
    row.watch = watch;
    this.loop.add(watch);
  }

  private ended({ row }: WatchedRow, end: PollEnd): void {
    this.open -= 1;
    if (end.kind === 'verdict') this.settle(row, end);
    this.batch.wake();
  }

  private settle(row: Row, { state, verdict }: WatchEnd): void {
    if (verdict.kind === 'completed') {
      this.batch.limitOf(row).onSuccess();
      row.phase = 'downloading';
      this.queue.push({ row, state, record: verdict.record });
      return;
    }
    if (verdict.kind === 'failed' && verdict.error.kind === 'capacity')
      this.batch.limitOf(row).onNoRoom(this.batch.inFlight(limitKeyOf(row)), Date.now(), null);
    endOrRetry(this.batch, row, outcomeOfWatch({ state, verdict }, originOf(row)));
  }

  /**
   * Makes one download attempt for each row, all in one activity. Each row that needs more attempts then gets its own
   * activity, which never starts before the time that the service requested. Other deliveries do not wait for these
   * rows.
   */
  private async fetch(finished: readonly FinishedRow[]): Promise<void> {
    const { download } = this.batch.input.settings.queues;
    const end = (one: FinishedRow, result: Downloaded | Awaited<ReturnType<typeof downloadVideo>>): void => {
      endOrRetry(this.batch, one.row, outcomeOfDownload(one, result, originOf(one.row)));
      this.batch.wake();
    };
    this.fetching += 1;
    try {
      const tries = await tryEach(
        finished.map(({ state }) => state.video),
        download,
      );
      this.openGroups -= 1;
      this.batch.wake();
      const open: Promise<void>[] = [];
      finished.forEach((one, index) => {
        const tried = tries?.[index] ?? null;
        // Create a promise only if there is something to await (docs/adr/0011).
        if (tried !== null && 'outcome' in tried) end(one, tried);
        else {
          const { video } = one.state;
          const own = downloadVideo({ video, ...(tried !== null && { tried }) }, download, null);
          open.push(own.then((result) => end(one, result)));
        }
      });
      await Promise.all(open);
    } finally {
      this.fetching -= 1;
      this.batch.wake();
    }
  }
}

const originOf = ({ created }: Row): WaitOrigin => ({ creationKey: null, created });

/**
 * Keeps a single copy of each value that most of a batch's rows share. Activity results are decoded separately for
 * every row, and a batch contains hundreds of rows. The number of distinct values depends only on the campaign's
 * models, accounts and prices.
 */
class SharedValues {
  private readonly known = new Map<string, unknown>();

  /** Returns the first value that was passed in and has the same JSON. */
  of<T extends string | object | null>(value: T): T {
    if (value === null) return value;
    const key = JSON.stringify(value);
    if (!this.known.has(key)) this.known.set(key, value);
    return this.known.get(key) as T;
  }

  task(video: VideoTask): VideoTask {
    // Fields are listed individually: copying with a spread takes 50% more memory.
    return {
      taskId: video.taskId,
      model: this.of(video.model),
      durationSeconds: video.durationSeconds,
      resolution: this.of(video.resolution),
      referenceMode: this.of(video.referenceMode),
      account: this.of(video.account),
      polling: this.of(video.polling),
      createdAt: video.createdAt,
      source: this.of(video.source),
    };
  }
}

/**
 * Makes one download attempt for each of several videos, in one activity. An entry is null if its result is unknown.
 * Returns null if no worker could finish the activity.
 */
async function tryEach(
  videos: readonly VideoTask[],
  taskQueue: string,
): Promise<DownloadVideosResult['results'] | null> {
  const fetch = activity(ACTIVITY.downloadVideos, { taskQueue, summary: `download ${videos.length}` });
  const asked = [...videos];
  try {
    return (await fetch({ videos: asked })).results;
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return null;
  } finally {
    // The SDK keeps an activity's arguments until the run ends (docs/adr/0011).
    asked.length = 0;
  }
}
