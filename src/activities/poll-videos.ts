import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isBug } from '../domain/bug';
import { mapConcurrently } from '../domain/map-concurrently';
import { type ActualRule } from '../domain/model-config';
import { INTERNAL_ERROR } from '../domain/names';
import {
  type PollAnswer,
  type PollSpread,
  type PollVideosInput,
  type PollVideosResult,
  seenOf,
} from '../domain/poll-answers';
import { tickIntervalMs } from '../domain/poll-cadence';
import { type TaskError } from '../domain/video-task';
import { type MediaClient } from '../service/media-client';
import { type AccountRegistry } from '../settings/accounts';
import { reportMistake } from './failures';
import { type OpenPoll, OpenPolls, PollGate, type PollReply, PollSockets, replyOf } from './poll-limits';

interface PollDeps {
  readonly accounts: AccountRegistry;
  /** Maximum concurrent GETs per tick. @default 64 */
  readonly pollConcurrency?: number;
}

const DEFAULT_POLL_CONCURRENCY = 64;
/** Maximum number of tasks per tick whose answer contains the service's error text. */
const MAX_REASONS = 50;

interface PollTarget {
  readonly index: number;
  readonly taskId: string;
  /** Account and task ID. */
  readonly task: string;
  readonly model: string;
  readonly actual: ActualRule | undefined;
  readonly seen: string;
  /** In milliseconds of `performance.now`. */
  readonly dueAt: number;
}

/**
 * Runs one tick: sends a GET per task and returns what changed (architecture: Wait). Never throws because of a service
 * reply. A task that has no answer when the time budget ends is `late`: its GET continues, and the next tick takes its
 * answer.
 */
export function createPollVideos(deps: PollDeps): (input: PollVideosInput) => Promise<PollVideosResult> {
  const gate = new PollGate();
  const polls = new OpenPolls();
  const connections = deps.pollConcurrency ?? DEFAULT_POLL_CONCURRENCY;
  /** Each account has its own sockets. */
  const socketsOf = new Map<string, PollSockets>();

  return async (input) => {
    const now = performance.now();
    const targets = flatten(input, (task) => dueAt(task, gate.lastPolled(task), now, input.spread));
    const account = deps.accounts.find(input.account);
    if (account === undefined) {
      return {
        answers: targets.map(({ index }) => ({ index, error: 'account_not_configured', unsent: true })),
      };
    }
    const sockets = socketsOf.get(account.name) ?? new PollSockets(connections);
    socketsOf.set(account.name, sockets);
    const tick = new Tick(input, account.client, { gate, polls, sockets });
    const open = targets.filter((target) => !tick.endsAtOnce(target));
    // The tasks that have waited longest go first: a tick that is cut short must not always skip the same tasks.
    open.sort((a, b) => a.dueAt - b.dueAt || gate.lastPolled(a.task) - gate.lastPolled(b.task));
    await mapConcurrently(open, Math.min(connections, open.length), (target) =>
      tick.poll(target).catch((error: unknown) => tick.mistaken(target, error)),
    );
    tick.end();
    const { answers, unreached } = tick;
    const shortage = sockets.endTick({ due: open.length, unreached, intervalMs: tickIntervalMs(input) });
    return { answers, ...(shortage === undefined ? {} : { shortage }) };
  };
}

/** State shared by all of a process's ticks. */
interface Shared {
  readonly gate: PollGate;
  readonly polls: OpenPolls;
  readonly sockets: PollSockets;
}

class Tick {
  readonly answers: PollAnswer[] = [];
  /** Number of tasks that were not polled before the tick ended. */
  unreached = 0;
  private readonly startedAt = performance.now();
  private readonly endsAt: number;
  private readonly ended: Promise<'late'>;
  private readonly gate: PollGate;
  private readonly polls: OpenPolls;
  private readonly sockets: PollSockets;
  private endNow: () => void = () => undefined;
  private reasons = 0;

  constructor(
    private readonly input: PollVideosInput,
    private readonly client: MediaClient,
    { gate, polls, sockets }: Shared,
  ) {
    this.gate = gate;
    this.polls = polls;
    this.sockets = sockets;
    this.endsAt = this.startedAt + input.budgetMs;
    this.ended = new Promise((resolve) => {
      const timer = setTimeout(() => resolve('late'), input.budgetMs);
      this.endNow = () => clearTimeout(timer);
    });
  }

  end(): void {
    this.endNow();
  }

  /** Answers a task without a GET if its final record arrived after an earlier tick. Returns whether it did. */
  endsAtOnce(target: PollTarget): boolean {
    return this.polls.keepsFinal(target.task) && this.answerKept(target);
  }

  async poll(target: PollTarget): Promise<void> {
    const { index, model } = target;
    const early = target.dueAt - performance.now();
    if (early > 0) await delay(early);
    const closedFor = this.gate.closedFor(this.gated(model));
    if (closedFor > 0) {
      this.answers.push({ index, error: 'rate_limited', retryAfterMs: closedFor, unsent: true });
      return;
    }
    const poll = await this.pollOf(target);
    const end = poll === undefined ? 'late' : await Promise.race([poll.ended, this.ended]);
    if (end !== 'late') this.answer(target, end.askedAt, replyOf(end.result));
    else {
      // Take an earlier GET's answer before this one is registered as missed.
      const isAnswered = this.answerKept(target);
      if (poll !== undefined) this.polls.miss(target.task, poll);
      if (!isAnswered) this.answers.push({ index, error: 'late', unsent: true });
    }
  }

  /** Handles a bug in polling one task, which must not stop the polls of the others. */
  mistaken({ index }: PollTarget, error: unknown): void {
    if (!isBug(error)) throw error;
    reportMistake(error);
    const message = "This is a bug in temporal-media. Its stack is in the worker's log.";
    const reason = { kind: 'unknown', code: INTERNAL_ERROR, message } as const;
    this.answers.push({ index, error: 'unreadable', reason });
  }

  private answerKept(target: PollTarget): boolean {
    const kept = this.polls.take(target.task);
    if (kept !== undefined) this.answer(target, kept.askedAt, kept.reply);
    return kept !== undefined;
  }

  private answer({ index, seen }: PollTarget, askedAt: number, reply: PollReply): void {
    const ago = Math.round(this.startedAt - askedAt);
    const asked = ago > 0 ? { askedMsAgo: ago } : {};
    if ('error' in reply) this.answers.push({ index, ...this.shortened(reply), ...asked });
    else if (reply.digest !== seen) this.answers.push({ index, ...reply, ...asked });
    else if (ago > 0) this.answers.push({ index, unchanged: true, askedMsAgo: ago });
  }

  /** Keeps the text of only some errors, which is enough if a service fails for all tasks. */
  private shortened<Reply extends { readonly reason?: TaskError }>(reply: Reply): Omit<Reply, 'reason'> {
    if (reply.reason === undefined || (this.reasons += 1) <= MAX_REASONS) return reply;
    const { reason: _reason, ...rest } = reply;
    return rest;
  }

  /**
   * Starts or joins a task's GET: one at a time, and never sooner than the minimum interval. Returns undefined if the
   * tick ends first.
   */
  private async pollOf(target: PollTarget): Promise<OpenPoll | undefined> {
    const { task, taskId, model, actual } = target;
    const running = this.polls.of(task);
    if (running !== undefined) return running;
    if (performance.now() >= this.endsAt) {
      this.unreached += 1;
      return undefined;
    }
    const wait = this.gate.floorWait(task, this.input.minIntervalMs);
    if (wait > 0) {
      if (performance.now() + wait >= this.endsAt) return undefined;
      await delay(wait);
      return this.pollOf(target);
    }
    this.gate.polled(task);
    return this.polls.begin(task, async () => {
      const result = await this.client.getVideo(taskId, { actual });
      this.sockets.end();
      // Without Retry-After, the gate stays closed only until this tick ends.
      if (result.kind === 'error' && result.error === 'rate_limited')
        this.gate.close(
          this.gated(model),
          result.retryAfterMs ?? Math.max(0, this.endsAt - performance.now()),
        );
      return result;
    });
  }

  private gated(model: string): string {
    return `${this.input.account} ${model}`;
  }
}

function flatten({ account, byModel }: PollVideosInput, dueOf: (task: string) => number): PollTarget[] {
  const targets: PollTarget[] = [];
  for (const batch of byModel) {
    const seen = seenOf(batch);
    batch.ids.forEach((taskId, place) => {
      const task = `${account} ${taskId}`;
      targets.push({
        index: targets.length,
        taskId,
        task,
        model: batch.model ?? '',
        actual: batch.actual,
        seen: seen[place] ?? '',
        dueAt: dueOf(task),
      });
    });
  }
  return targets;
}

/**
 * GETs in the same step are sent together: a timer for each one would add a fifth to the cost of a poll, and a shift of
 * 10 ms does not matter.
 */
const STEP_MS = 20;

/**
 * Returns the time at which a tick polls a task, on the clock that the arguments use. Without a spread, it is polled
 * immediately. With a spread, it is polled one of its group's intervals after its last poll, plus or minus half a step,
 * within the part of the tick that the spread specifies. This absorbs ticks that are too early or too late, and
 * distributes many groups' ticks evenly.
 * @param lastPolledAt `-Infinity` if never
 */
export function dueAt(
  task: string,
  lastPolledAt: number,
  tickAt: number,
  spread: PollSpread | undefined,
): number {
  if (spread === undefined) return tickAt;
  const { everyMs, overMs } = spread;
  const next = lastPolledAt + everyMs;
  // A new task, or one that another worker polled in the meantime, uses its own offset, which is the same on every
  // worker.
  const desired = next < tickAt - everyMs / 2 ? tickAt + Math.floor(placeOf(task) * overMs) : next;
  // Rounded to common clock steps. Always rounding up would lengthen the interval.
  const step = Math.round(desired / STEP_MS) * STEP_MS;
  return Math.min(Math.max(step, tickAt), tickAt + overMs);
}

/** Returns a number in [0, 1) that is always the same for a given task. */
function placeOf(task: string): number {
  return parseInt(hash('sha256', task, 'hex').slice(0, 8), 16) / 2 ** 32;
}
