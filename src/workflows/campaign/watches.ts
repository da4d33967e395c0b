import { ActivityFailure } from '@temporalio/workflow';
import { type DownloadVideosResult } from '../../domain/campaign/activities';
import { DELIVERY, type DownloadVideoResult, type FailedTry } from '../../domain/download';
import { outcomes } from '../../domain/make-outcome';
import { type VideoOutcome } from '../../domain/outcome';
import { type CreatedVideo } from '../../domain/paid-call';
import { type VideoTask } from '../../domain/video-task';
import { beginWatch, type WatchState } from '../../domain/watch-state';
import { type FollowResult, PollLoop, type Watcher } from '../poll-loop';
import { ACTIVITY } from '../../domain/names';
import { activity } from '../proxies';
import { type BatchWork } from './batch-work';
import { endOrRetry } from './end-row';
import { limitKeyOf, type Row, sinceOf } from './row';

/** 4 s ± 0.2 s in the band of 3 to 5 s: enough to keep batches out of step, and no row waits until its end. */
const POLL_BAND_MARGIN = 0.4;

/** Rows whose task exists: one loop polls them all, then they are downloaded in groups. */
export class Watches {
  private readonly loop: PollLoop;
  private readonly queue: Row[] = [];
  private readonly shared = new SharedValues();
  private openGroups = 0;
  private fetching = 0;
  private open = 0;

  constructor(private readonly batch: BatchWork) {
    this.loop = new PollLoop({
      taskQueue: batch.input.settings.queues.poll,
      bandMargin: POLL_BAND_MARGIN,
      keepsPace: true,
      onTick: batch.wake,
    });
  }

  /** Starts to watch a task that was created, now or before. */
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
    // A task that was bought before may be ready, and another batch may just have polled it (C8.2).
    const firstPollAt = created.sent
      ? now + firstPollSeconds * 1000
      : Math.max(now, (polledAt ?? now) + minSeconds * 1000);
    this.watch(row, beginWatch({ video, now, deadlineAt, firstPollAt, lastStatus: created.status }));
  }

  /** Whether all recent polls failed: the service is unavailable, and nothing new is bought meanwhile. */
  serviceIsAway(): boolean {
    const states = this.loop.states().filter(({ lastPollAt, errors }) => lastPollAt !== null || errors > 0);
    return states.length > 0 && states.every(({ errors }) => errors > 0);
  }

  /** Videos that wait for their download. */
  backlog(): number {
    return this.queue.length;
  }

  isFetching(): boolean {
    return this.fetching > 0;
  }

  download(now: number): void {
    while (this.openGroups < DELIVERY.open && this.queue.length > 0) {
      this.openGroups += 1;
      void this.fetch(this.queue.splice(0, DELIVERY.videos), now);
    }
  }

  /** Stops the loop, at the end of its tick when one is in progress. @returns whether it has stopped */
  stop(): boolean {
    this.loop.stop();
    return this.open === 0;
  }

  /** When a row was polled last, in workflow time; 0 before that. */
  lastTickAt(): number {
    return Math.max(0, ...this.loop.snapshot().groups.map(({ lastTickAt }) => lastTickAt));
  }

  private watch(row: Row, state: WatchState): void {
    row.phase = 'watching';
    this.open += 1;
    const watch = new RowWatch(row, state, this.settled);
    row.watch = watch;
    this.loop.follow(watch);
  }

  private readonly settled = (row: Row, result: FollowResult): void => {
    this.open -= 1;
    this.ended(row, result);
    this.batch.wake();
  };

  private ended(row: Row, result: FollowResult): void {
    if (result.kind !== 'verdict') return;
    const { verdict, state } = result;
    const end = { video: state.video, estimate: row.created?.estimate ?? null, state };
    switch (verdict.kind) {
      case 'completed':
        this.batch.limitOf(row).onSuccess();
        row.phase = 'downloading';
        row.record = verdict.record;
        this.queue.push(row);
        return;
      case 'failed':
        if (verdict.error.kind === 'capacity')
          this.batch.limitOf(row).onNoRoom(this.batch.inFlight(limitKeyOf(row)), Date.now(), null);
        return endOrRetry(this.batch, row, outcomes.failed(end, verdict.error, verdict.record.usage));
      case 'task_unknown':
        return endOrRetry(this.batch, row, outcomes.taskUnknown(end));
      case 'still_running':
        return endOrRetry(this.batch, row, outcomes.stillRunning(end));
    }
  }

  /**
   * One try for each row, all in one activity; then an activity for each that needs more, never before the time that the
   * service asked for (C8.7). Other deliveries need not wait for those.
   */
  private async fetch(rows: readonly Row[], now: number): Promise<void> {
    const { download } = this.batch.input.settings.queues;
    const end = (row: Row, result: DownloadVideoResult | null): void => {
      endOrRetry(this.batch, row, ofDownload(row, result, now));
      this.batch.wake();
    };
    this.fetching += 1;
    try {
      const videos = rows.flatMap(({ created }) => created?.video ?? []);
      const tries = await tryEach(videos, download);
      this.openGroups -= 1;
      this.batch.wake();
      const open: Promise<void>[] = [];
      rows.forEach((row, index) => {
        const [video, tried = null] = [videos[index], tries?.[index]];
        // Promises only where something is awaited (docs/adr/0011).
        if (tried !== null && 'outcome' in tried) end(row, tried);
        else if (video !== undefined)
          open.push(downloadOne(video, tried, download).then((result) => end(row, result)));
      });
      await Promise.all(open);
    } finally {
      this.fetching -= 1;
      this.batch.wake();
    }
  }
}

/** One row in the loop. A class, because a closure for each of thousands of rows would take more memory. */
class RowWatch implements Watcher {
  constructor(
    private readonly row: Row,
    public state: WatchState,
    private readonly settled: (row: Row, result: FollowResult) => void,
  ) {}

  settle(result: FollowResult): void {
    this.settled(this.row, result);
  }
}

function ofDownload(row: Row, result: DownloadVideoResult | null, now: number): VideoOutcome {
  const { created, record } = row;
  if (created === null) throw new Error('Only what was created is downloaded');
  const { video, estimate, warnings, mayBeOwed } = created;
  const state = row.watch?.state ?? beginWatch({ video, now, deadlineAt: now, firstPollAt: now });
  const end = { video, estimate, state, ...(mayBeOwed === true && { mayBeOwed }) };
  if (result === null) return outcomes.stillRunning(end, record?.status);
  return result.outcome === 'downloaded'
    ? outcomes.completed(end, result, record ?? {}, warnings)
    : outcomes.contentUnavailable(end, result, record?.usage);
}

/**
 * Values that most rows of a batch have in common, each kept once: activity results are decoded separately for every
 * row, and a batch holds hundreds of them. There are as many as a campaign has models, accounts and prices.
 */
export class SharedValues {
  private readonly known = new Map<string, unknown>();

  /** The first value that was passed with the same JSON. */
  of<T extends string | object | null>(value: T): T {
    if (value === null) return value;
    const key = JSON.stringify(value);
    if (!this.known.has(key)) this.known.set(key, value);
    return this.known.get(key) as T;
  }

  task(video: VideoTask): VideoTask {
    // Fields are listed one by one: a copy by a spread takes 50% more memory.
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

/** One try for each of several videos, in one activity. Null where that is not known, or no worker could finish it. */
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
    // The SDK keeps the arguments of an activity until the run ends (docs/adr/0011).
    asked.length = 0;
  }
}

/** The download of one video, after a try that did not bring it. Null if no worker could finish it. */
async function downloadOne(
  video: VideoTask,
  tried: FailedTry | null,
  taskQueue: string,
): Promise<DownloadVideoResult | null> {
  try {
    const download = activity(ACTIVITY.downloadVideo, { taskQueue, summary: 'download' });
    return await download({ video, ...(tried !== null && { tried }) });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return null;
  }
}
