import { ActivityFailure, ApplicationFailure, CancelledFailure, TimeoutFailure } from '@temporalio/common';
import { msToNumber } from '@temporalio/common/lib/time';
import { type PaidCallSeen } from '../../../src/activities/binding/paid-history';
import { ACTIVITY } from '../../../src/domain/names';
import { type Activity, type End, paidCallOf } from './activity';
import { type Execution } from './activity-sdk';
import { type Observations } from './observations';
import { makeProcess, type Process, type VirtualTime } from './virtual-time';
import { type ActivityOptions, type CancellationScope, type Run } from './workflow-sdk';

export type ActivityFunctions = Readonly<Record<string, (input: never) => Promise<unknown>>>;

export interface ServerFaults {
  /** Probability that a worker takes a task and the answer to its poll is lost (failure model: row 3). */
  pollLost: number;
  /** Probability that an activity is left started without any timeout (failure model: What Temporal runs again). */
  stuck: number;
  /** Longest time until a worker takes a task, and until a completion arrives. */
  slowestMs: number;
  /** Probability that a heartbeat that is to be answered, or its answer, is lost or late. */
  beatLost: number;
  /** Probability that a heartbeat of an attempt that was given up is answered: the server was set back, or failed over. */
  split: number;
}

const BEAT_TROUBLES = ['lost', 'unanswered', 'late'] as const;
/** Longest wait for the answer to a heartbeat (src/activities/heartbeat.ts). */
const BEAT_DEADLINE_MS = 4_000;
const BEAT_LATEST_MS = 20_000;

/** Workers on one of them see when another there has ended. */
const HOSTS = ['host-1', 'host-2'];

/**
 * Activities as the server runs them: four timeouts, retries by policy, completions of attempts that it has given up are
 * dropped, and what an operator can do besides. Workers are processes with clocks of their own.
 */
export class TemporalServer {
  readonly workers: Process[] = [];
  readonly open = new Set<Activity>();
  private waiting: Activity[] = [];
  private readonly paid: Activity[] = [];
  private activities = 0;
  private starts = 0;

  constructor(
    private readonly time: VirtualTime,
    private readonly observations: Observations,
    readonly faults: ServerFaults,
    public functions: ActivityFunctions,
  ) {}

  paidCalls(): readonly PaidCallSeen[] {
    return this.paid.flatMap((activity) => paidCallOf(activity) ?? []);
  }

  startWorker(skewMs: number): void {
    const host = this.time.random.pick(HOSTS);
    this.workers.push(makeProcess(`worker-${(this.starts += 1)}`, skewMs, host));
    const waiting = this.waiting.splice(0);
    for (const activity of waiting) this.offer(activity);
  }

  /** SIGKILL. The server hears nothing, and finds out by a timeout. */
  kill(worker: Process): void {
    this.observations.kills += 1;
    this.time.say(() => `${worker.name} is killed`);
    worker.dead = true;
    this.workers.splice(this.workers.indexOf(worker), 1);
    this.silence(worker);
  }

  /** SIGSTOP, and SIGCONT after a while. */
  freeze(worker: Process, forMs: number): void {
    this.observations.freezes += 1;
    this.time.say(() => `${worker.name} is stopped for ${forMs} ms`);
    worker.frozenUntil = this.time.now + forMs;
    this.silence(worker, worker.frozenUntil);
  }

  /** Heartbeats of this worker do not arrive until then, whether it works or not. */
  silence(worker: Process, until = Infinity): void {
    for (const activity of this.open) {
      const beat = activity.options.heartbeatTimeout;
      const attempt = activity.current;
      if (beat === undefined || attempt?.process !== worker || this.time.now + beat > until) continue;
      this.timer(activity, beat, () => {
        if (activity.current === attempt) this.timesOut(activity, 'HEARTBEAT');
      });
    }
  }

  /** An operator resets an activity that runs: when this attempt fails, and may be retried, its attempts begin anew. */
  resetActivity(activity: Activity): void {
    if (!activity.open || !activity.started) return;
    this.time.say(() => `an operator resets ${activity.id}`);
    activity.reset = true;
  }

  /** Its workflow is gone: nobody waits for its activities, but those that run go on for a while. */
  abandon(run: Run): void {
    for (const activity of this.open) {
      if (activity.run !== run) continue;
      activity.open = false;
      this.open.delete(activity);
      this.tellCancelled(activity);
    }
  }

  schedule(
    name: string,
    options: ActivityOptions,
    given: unknown,
    scope: CancellationScope,
    run: Run,
  ): Promise<unknown> {
    const { time } = this;
    const input = given as Activity['input'];
    const id = `${name.slice(6)}-${(this.activities += 1)}`;
    time.say(() => `schedules ${id}: ${options.summary ?? ''}`);
    return new Promise((resolve, reject) => {
      const forget = scope.onCancel(() => this.cancel(activity));
      const activity: Activity = {
        name,
        id,
        options,
        input,
        run,
        scheduledAt: time.now,
        closesAt: time.now + msToNumber(options.scheduleToCloseTimeout),
        settle: (how) => {
          activity.end = how;
          activity.open = false;
          this.open.delete(activity);
          for (const timer of activity.timers) timer.cancelled = true;
          // The workflow learns of it with its next task.
          time.after(this.latency(), run, () => {
            forget();
            if ('value' in how) resolve(how.value);
            else reject(activityFailure(activity, how.error));
          });
        },
        end: undefined,
        open: true,
        attempt: 0,
        current: undefined,
        dispatchedAt: time.now,
        dispatches: 0,
        started: false,
        stuck: name === ACTIVITY.createVideo && time.random.chance(this.faults.stuck),
        reset: false,
        lastBeat: undefined,
        cancelRequested: false,
        timers: [],
      };
      this.open.add(activity);
      if (name === ACTIVITY.createVideo) this.paid.push(activity);
      this.timer(activity, activity.closesAt - time.now, () => {
        activity.settle({ error: new TimeoutFailure('timed out', activity.lastBeat, 'SCHEDULE_TO_CLOSE') });
      });
      this.dispatch(activity);
    });
  }

  private dispatch(activity: Activity): void {
    activity.started = false;
    activity.current = undefined;
    // The server takes a while to hand it out again.
    if (activity.dispatches > 0) activity.dispatchedAt = Math.max(this.time.now, activity.scheduledAt + 1);
    activity.dispatches += 1;
    const mine = activity.dispatches;
    const limit = activity.options.scheduleToStartTimeout;
    if (limit !== undefined)
      this.timer(activity, limit, () => {
        if (!activity.started && activity.dispatches === mine)
          activity.settle({ error: new TimeoutFailure('timed out', activity.lastBeat, 'SCHEDULE_TO_START') });
      });
    this.time.after(this.latency(), this.time.world, () => this.offer(activity));
  }

  private offer(activity: Activity): void {
    if (!activity.open || activity.started) return;
    const awake = this.workers.filter(({ frozenUntil }) => frozenUntil <= this.time.now);
    if (awake.length === 0) {
      const thawed = this.workers.map(({ frozenUntil }) => frozenUntil);
      if (thawed.length === 0) this.waiting.push(activity);
      else this.time.after(Math.min(...thawed) - this.time.now, this.time.world, () => this.offer(activity));
      return;
    }
    this.start(activity, this.time.random.pick(awake));
  }

  private start(activity: Activity, worker: Process): void {
    const { time } = this;
    const { options, run } = activity;
    activity.attempt += 1;
    activity.started = true;
    const startToClose = msToNumber(options.startToCloseTimeout);
    const attempt: Execution = {
      process: worker,
      creationKey: activity.input.creationKey,
      sender: activity.input.sender ?? activity.id,
      intent: undefined,
      signal: { aborted: false },
      beat: (details) =>
        void time.after(time.random.between(0, BEAT_LATEST_MS), time.world, () => {
          this.hears(activity, attempt, details);
        }),
      tell: (details) => this.answers(activity, attempt, details),
      info: {
        namespace: 'default',
        ...(run.isStandalone === true
          ? { activityRunId: run.runId }
          : {
              workflowNamespace: 'default',
              workflowExecution: { workflowId: run.workflowId, runId: run.runId },
            }),
        activityId: activity.id,
        attempt: activity.attempt,
        scheduledTimestampMs: activity.scheduledAt,
        currentAttemptScheduledTimestampMs: activity.dispatchedAt,
        heartbeatDetails: activity.lastBeat,
        startToCloseTimeoutMs: startToClose,
        scheduleToCloseTimeoutMs: activity.closesAt - activity.scheduledAt,
        heartbeatTimeoutMs: options.heartbeatTimeout,
        retryPolicy: { maximumAttempts: options.retry.maximumAttempts ?? 0 },
      },
    };
    activity.current = attempt;
    const still = (): boolean => activity.current === attempt;
    this.timer(activity, startToClose, () => still() && this.timesOut(activity, 'START_TO_CLOSE'));
    if (time.random.chance(this.faults.pollLost)) {
      time.say(() => `${activity.id} is lost between the server and ${worker.name}`);
      const beat = options.heartbeatTimeout;
      if (beat !== undefined)
        this.timer(activity, beat, () => still() && this.timesOut(activity, 'HEARTBEAT'));
      return;
    }
    time.after(0, attempt, () => {
      time.say(() => `begins ${activity.id}, attempt ${attempt.info.attempt}`);
      const work = this.functions[activity.name] as (input: unknown) => Promise<unknown>;
      const tell = (how: End): void =>
        void time.after(this.latency(), attempt, () => this.completes(activity, attempt, how));
      work(activity.input).then(
        (value) => tell({ value }),
        (error: unknown) => tell({ error: error instanceof Error ? error : new Error(String(error)) }),
      );
    });
  }

  /** What an attempt hears when its heartbeat has arrived. */
  private hears(activity: Activity, attempt: Execution, details: unknown): Error | undefined {
    if (!activity.open || activity.current !== attempt)
      return this.time.random.chance(this.faults.split) ? undefined : named('ActivityNotFoundError');
    activity.lastBeat = details;
    if (activity.cancelRequested) return named('ActivityCancelledError');
    return activity.reset ? named('ActivityResetError') : undefined;
  }

  /** A heartbeat that is answered; its sender gives it up after a while, and it may arrive all the same. */
  private answers(activity: Activity, attempt: Execution, details: unknown): Promise<void> {
    const { time } = this;
    const { random } = time;
    const trouble = random.chance(this.faults.beatLost) ? random.pick(BEAT_TROUBLES) : 'none';
    return new Promise((resolve, reject) => {
      const end = (delayMs: number, error: Error | undefined): void =>
        void time.after(delayMs, attempt, () => (error === undefined ? resolve() : reject(error)));
      const arrives = (delayMs: number, then: (error: Error | undefined) => void): void =>
        void time.after(delayMs, time.world, () => then(this.hears(activity, attempt, details)));
      if (trouble === 'none')
        return arrives(random.between(0, 3), (error) => end(random.between(0, 3), error));
      this.observations.beatFaults += 1;
      end(BEAT_DEADLINE_MS, named('DeadlineExceeded'));
      if (trouble === 'unanswered') arrives(random.between(0, 3), () => undefined);
      if (trouble === 'late') arrives(random.between(0, BEAT_LATEST_MS), () => undefined);
    });
  }

  private completes(activity: Activity, attempt: Execution, how: End): void {
    this.time.say(() => `${activity.id} ends: ${summaryOf(how)}`);
    if (!activity.open || activity.current !== attempt || activity.stuck) {
      this.observations.lateCompletions += 1;
      return;
    }
    if ('value' in how) return activity.settle(how);
    const retryable = !(how.error instanceof ApplicationFailure && how.error.nonRetryable === true);
    this.retryOr(activity, retryable, how.error);
  }

  private timesOut(activity: Activity, kind: 'START_TO_CLOSE' | 'HEARTBEAT'): void {
    if (activity.stuck) return;
    this.time.say(() => `${activity.id} times out: ${kind}`);
    const word = kind === 'HEARTBEAT' ? 'TemporalTimeout:Heartbeat' : 'TemporalTimeout:StartToClose';
    const retryable = activity.options.retry.nonRetryableErrorTypes?.includes(word) !== true;
    this.retryOr(activity, retryable, new TimeoutFailure('timed out', activity.lastBeat, kind));
  }

  private retryOr(activity: Activity, retryable: boolean, error: Error): void {
    const { retry } = activity.options;
    if (activity.reset && retryable) {
      Object.assign(activity, { reset: false, attempt: 0 });
      return this.dispatch(activity);
    }
    const most = retry.maximumAttempts ?? 0;
    const asked = error instanceof ApplicationFailure ? (error.nextRetryDelay as number | null) : undefined;
    const backoff =
      msToNumber(retry.initialInterval ?? '1s') * (retry.backoffCoefficient ?? 2) ** (activity.attempt - 1);
    const delay = asked ?? Math.min(backoff, msToNumber(retry.maximumInterval ?? '100s'));
    if (!retryable || (most > 0 && activity.attempt >= most) || this.time.now + delay >= activity.closesAt)
      return activity.settle({ error });
    activity.current = undefined;
    this.timer(activity, delay, () => this.dispatch(activity));
  }

  /** WAIT_CANCELLATION_COMPLETED: one that no worker has is dropped, another is told with one of its heartbeats. */
  private cancel(activity: Activity): void {
    if (!activity.open) return;
    if (!activity.started) return activity.settle({ error: new CancelledFailure('cancelled') });
    this.tellCancelled(activity);
  }

  private tellCancelled(activity: Activity): void {
    const { current } = activity;
    activity.cancelRequested = true;
    this.time.after(this.time.random.between(0, 10_000), this.time.world, () => {
      if (current !== undefined) current.signal.aborted = true;
    });
  }

  private timer(activity: Activity, delayMs: number, act: () => unknown): void {
    const fire = (): void => {
      if (activity.open && !(activity.stuck && activity.started)) act();
    };
    activity.timers.push(this.time.after(delayMs, this.time.world, fire));
  }

  private latency(): number {
    const { random } = this.time;
    return random.chance(0.03) ? random.between(0, this.faults.slowestMs) : random.between(0, 4);
  }
}

function named(name: string): Error {
  return Object.assign(new Error(name), { name });
}

function activityFailure(activity: Activity, cause: Error): ActivityFailure {
  return new ActivityFailure('activity failed', activity.name, activity.id, 'TIMEOUT', 'worker', cause);
}

function summaryOf(how: End): string {
  if ('error' in how) return how.error.message;
  const { outcome, sendAttempt, cause, reason } = how.value as Readonly<Record<string, unknown>>;
  return [outcome, `send ${String(sendAttempt)}`, cause, reason]
    .map(String)
    .join(', ')
    .replaceAll(', undefined', '');
}
