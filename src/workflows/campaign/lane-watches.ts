import { type DownloadVideoResult } from '../../domain/download';
import { type VideoOutcome } from '../../domain/outcome';
import { outcomes } from '../../domain/outcomes';
import { beginWatch, type WatchState } from '../../domain/poll-watch';
import { type PollLoopSnapshot } from '../../domain/poll-loop-snapshot';
import { bandKey } from '../../domain/polling-profile';
import { videoTaskById } from '../../domain/video-task';
import { type CreatedVideo } from '../../domain/paid-call';
import { type LaneCarried } from '../../domain/campaign/lane-state';
import { type FollowResult, PollLoop, type Watcher } from '../poll-loop';
import { endOrRetry } from './end-row';
import { downloadRows } from './lane-downloads';
import { type Lane } from './lane';
import { limitKeyOf, type LaneRow } from './lane-row';
import { SharedValues } from './shared-values';

/** Videos per download activity, and how many such activities are open at a time. */
const BATCH = 25;
const OPEN_BATCHES = 4;

/** 4 s give or take 0.2 in the band of 3 to 5 s: enough to keep lanes out of step, and no row waits for the end of the band. */
const POLL_BAND_MARGIN = 0.4;

/** Rows whose task exists: polled by one loop for all, then downloaded in batches. */
export class LaneWatches {
  private readonly loop: PollLoop;
  private readonly queue: LaneRow[] = [];
  private readonly shared = new SharedValues();
  private openBatches = 0;
  private fetching = 0;
  private open = 0;
  private stopping = false;

  constructor(
    private readonly lane: Lane,
    private readonly onChange: () => void,
    carried: LaneCarried | undefined,
  ) {
    this.loop = PollLoop.from(cadencesOf(carried), {
      taskQueue: lane.input.settings.queues.poll,
      bandMargin: POLL_BAND_MARGIN,
      keepsPace: true,
      onTick: onChange,
      shouldHandOver: () => this.stopping,
    });
  }

  /** A task that was just created. */
  begin(row: LaneRow, created: CreatedVideo, now: number): void {
    const video = this.shared.task(created.video);
    row.created = {
      video,
      estimate: this.shared.of(created.estimate),
      warnings: created.warnings,
      ...(created.mayBeOwed === true && { mayBeOwed: true }),
    };
    const deadlineAt = now + this.lane.input.settings.waitForMs;
    const firstPollAt = now + video.polling.firstPollSeconds * 1000;
    this.watch(row, beginWatch({ video, now, deadlineAt, firstPollAt, lastStatus: created.status }));
  }

  /** A row of the run before. */
  takeUp(row: LaneRow): void {
    if (row.phase === 'downloading') this.queue.push(row);
    else if (row.phase === 'watching' && row.watch !== null) this.watch(row, row.watch.state);
  }

  /** Whether every poll of late failed: the service is away, and nothing new is bought meanwhile. */
  serviceIsAway(): boolean {
    const states = this.loop.states().filter(({ lastPollAt, errors }) => lastPollAt !== null || errors > 0);
    return states.length > 0 && states.every(({ errors }) => errors > 0);
  }

  /** Videos that wait to be fetched. */
  backlog(): number {
    return this.queue.length;
  }

  isFetching(): boolean {
    return this.fetching > 0;
  }

  download(now: number): void {
    if (!this.lane.mayDownload(now)) return;
    while (this.openBatches < OPEN_BATCHES && this.queue.length > 0) {
      this.openBatches += 1;
      void this.fetch(this.queue.splice(0, BATCH), now);
    }
  }

  /** Asks the loop to stop at the end of its tick. @returns whether it has */
  stop(): boolean {
    this.stopping = true;
    return this.open === 0;
  }

  /** The cadences of the stopped loop. */
  save(): LaneCarried['cadences'] {
    const { groups } = this.loop.snapshot();
    return groups.flatMap(({ account, lastTickAt, intervalMs, watches: [first] }) =>
      first === undefined ? [] : [{ account, polling: first.video.polling, lastTickAt, intervalMs }],
    );
  }

  private watch(row: LaneRow, state: WatchState): void {
    row.phase = 'watching';
    this.open += 1;
    const watch = new RowWatch(row, state, this.settled);
    row.watch = watch;
    this.loop.follow(watch);
  }

  private readonly settled = (row: LaneRow, result: FollowResult): void => {
    this.open -= 1;
    this.ended(row, result);
    this.onChange();
  };

  private ended(row: LaneRow, result: FollowResult): void {
    if (result.kind !== 'verdict') return;
    const { verdict, state } = result;
    const end = { video: state.video, estimate: row.created?.estimate ?? null, state };
    switch (verdict.kind) {
      case 'completed':
        this.lane.limitOf(row).onSuccess();
        row.phase = 'downloading';
        row.record = verdict.record;
        this.queue.push(row);
        return;
      case 'failed':
        if (verdict.error.kind === 'capacity')
          this.lane.limitOf(row).onNoRoom(this.lane.inFlight(limitKeyOf(row)), Date.now(), null);
        return endOrRetry(this.lane, row, outcomes.failed(end, verdict.error, verdict.record.usage));
      case 'task_unknown':
        return endOrRetry(this.lane, row, outcomes.taskUnknown(end));
      case 'still_running':
        return endOrRetry(this.lane, row, outcomes.stillRunning(end));
    }
  }

  private async fetch(rows: readonly LaneRow[], now: number): Promise<void> {
    const videos = rows.flatMap(({ created }) => created?.video ?? []);
    const landed = (place: number, result: DownloadVideoResult | null) => {
      const row = rows[place];
      if (row !== undefined) endOrRetry(this.lane, row, ofDownload(row, result, now));
      this.onChange();
    };
    const tried = () => {
      this.openBatches -= 1;
      this.onChange();
    };
    this.fetching += 1;
    try {
      await downloadRows(videos, this.lane.input.settings, landed, tried);
    } finally {
      this.fetching -= 1;
      this.onChange();
    }
  }
}

/** One row in the loop. Of a class, because a function of its own for each of thousands would be larger than what it knows. */
class RowWatch implements Watcher {
  constructor(
    private readonly row: LaneRow,
    public state: WatchState,
    private readonly settled: (row: LaneRow, result: FollowResult) => void,
  ) {}

  settle(result: FollowResult): void {
    this.settled(this.row, result);
  }
}

function ofDownload(row: LaneRow, result: DownloadVideoResult | null, now: number): VideoOutcome {
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

/** The groups of a loop as they ticked last: each is named by one of its watches. */
function cadencesOf(carried: LaneCarried | undefined): PollLoopSnapshot {
  const groups = (carried?.cadences ?? []).map(({ account, polling, lastTickAt, intervalMs }) => {
    const video = videoTaskById(bandKey(polling), account, polling);
    const watches = [beginWatch({ video, now: 0, deadlineAt: 0, firstPollAt: 0 })];
    return { account, lastTickAt, intervalMs, watches };
  });
  return { v: 1, groups };
}
