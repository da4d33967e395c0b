import { type Client } from '@temporalio/client';
import { type Metrics, NO_METRICS } from '../domain/metrics';
import { activityQueues, QUERY, WORKFLOW } from '../domain/names';
import { watchesLeft, type WatcherContents } from '../domain/watcher';
import { joinWatcher, MAX_JOINS } from './join-watcher';
import { reported } from './mistakes';

/** Time between two searches of a process, in milliseconds, give or take a fourth: less than an interval of the usual cadence. */
const EVERY_MS = 3_000;
/**
 * With more processes each searches less often, so that all of them search about once a second: a server answers 10 such
 * requests a second for a namespace unless it is configured otherwise.
 */
const AT_FULL_PACE = 3;
/** `TASK_QUEUE_TYPE_ACTIVITY` of the Temporal API. */
const ACTIVITIES = 2;
/** How far back a search goes for watchers that were closed. */
const WINDOW_MS = 10 * 60_000;
/** Longest wait for the answer of a closed watcher, whose history a worker has to replay. */
const ANSWER_MS = 10_000;
/** Searches in a row that the server did not answer; after that, the next video begins again. */
const MAX_FAILURES = 30;
/** Searches continue for so long after the last video has joined, in milliseconds: visibility shows its watcher later. */
const LINGER_MS = 60_000;

/**
 * Joins the videos of a watcher that was terminated or has failed to another run of it. While watchers of a queue are
 * open, every process with activities searches for closed ones as well: joining twice is the same as once. A video that
 * this misses joins again by itself at its next attempt (ADR 26).
 */
export class WatchRecovery {
  private readonly searches = new Map<string, Search>();
  /** Closed runs whose videos have been joined again. */
  private readonly done = new Set<string>();
  private closed = false;

  constructor(
    private readonly metrics: Metrics = NO_METRICS,
    private readonly everyMs = EVERY_MS,
  ) {}

  /** A worker starts: searches until no watcher of the queue is open. Never throws. */
  resume(client: Client, taskQueue: string): void {
    this.searchUntil(client, taskQueue, 0);
  }

  /** A video joins: the same, from now on. Never throws. */
  begin(client: Client, taskQueue: string): void {
    this.searchUntil(client, taskQueue, performance.now() + LINGER_MS);
  }

  private searchUntil(client: Client, taskQueue: string, until: number): void {
    if (this.closed) return;
    const key = `${client.options.namespace}\n${taskQueue}`;
    const known = this.searches.get(key);
    if (known !== undefined) {
      known.until = Math.max(known.until, until);
      return;
    }
    const search: Search = { until, timer: undefined };
    this.searches.set(key, search);
    const searchAgain = async (failed: number): Promise<void> => {
      const found = await this.searchOnce(client, taskQueue).catch(reported(undefined));
      const fails = found === undefined ? failed + 1 : 0;
      const isIdle = found === false && performance.now() > search.until;
      if (isIdle || fails >= MAX_FAILURES) this.searches.delete(key);
      else await scheduleSearch(fails);
    };
    const scheduleSearch = async (failed: number): Promise<void> => {
      const pause = await this.pause(client, taskQueue);
      if (!this.closed) search.timer = setTimeout(() => void searchAgain(failed), pause).unref();
    };
    // Not at once: many processes may start together.
    void scheduleSearch(0);
  }

  private async pause(client: Client, taskQueue: string): Promise<number> {
    const described = client.workflowService.describeTaskQueue({
      namespace: client.options.namespace,
      taskQueue: { name: activityQueues(taskQueue).poll },
      taskQueueType: ACTIVITIES,
    });
    const { pollers } = await described.catch(reported({ pollers: [] }));
    return this.everyMs * Math.max(1, pollers.length / AT_FULL_PACE) * (0.75 + Math.random() / 2);
  }

  close(): void {
    this.closed = true;
    for (const { timer } of this.searches.values()) clearTimeout(timer);
  }

  /** @returns whether any watcher is open or was to be recovered */
  private async searchOnce(client: Client, taskQueue: string): Promise<boolean> {
    const { namespace } = client.options;
    // oxlint-disable-next-line house/no-wall-clock-durations -- compared with times of the server
    const since = new Date(Date.now() - WINDOW_MS).toISOString();
    // The raw service call: a client cannot list executions whose memo another codec wrote.
    const { executions } = await client.workflowService.listWorkflowExecutions({
      namespace,
      query:
        `WorkflowType = "${WORKFLOW.watchVideos}" AND TaskQueue = ${JSON.stringify(taskQueue)} AND (ExecutionStatus = "Running" ` +
        `OR (ExecutionStatus IN ("Terminated", "Failed", "TimedOut") AND CloseTime > "${since}"))`,
      pageSize: 1_000,
    });
    const closed = executions.filter(({ closeTime }) => closeTime != null);
    const left = closed.filter(({ execution }) => !this.done.has(execution?.runId ?? ''));
    for (const { execution } of left) {
      const { workflowId, runId } = execution ?? {};
      // One that does not answer is queried again by the next search.
      if (workflowId && runId)
        await this.recover(client, { workflowId, runId, taskQueue }).catch(reported(undefined));
    }
    const open = executions.length - closed.length;
    this.metrics.record('watchersOpen', open, {});
    return open > 0 || left.length > 0;
  }

  private async recover(client: Client, run: ClosedRun): Promise<void> {
    const { workflowId, runId, taskQueue } = run;
    const { input, ...snapshot } = await client.withDeadline(Date.now() + ANSWER_MS, () =>
      client.workflow.getHandle(workflowId, runId).query<WatcherContents>(QUERY.watchSnapshot),
    );
    const joins = watchesLeft(snapshot);
    for (let from = 0; from < joins.length; from += MAX_JOINS)
      await joinWatcher(client, { workflowId, taskQueue, input }, joins.slice(from, from + MAX_JOINS));
    this.done.add(runId);
    this.metrics.record('watchersReplaced', 1, {});
  }
}

interface Search {
  /** Milliseconds since 1970. */
  until: number;
  timer: NodeJS.Timeout | undefined;
}

interface ClosedRun {
  readonly workflowId: string;
  readonly runId: string;
  readonly taskQueue: string;
}
