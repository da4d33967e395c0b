import { setTimeout as delay } from 'node:timers/promises';
import { inLanes } from '../domain/in-lanes';
import { type PollAnswer, type PollVideosInput, type PollVideosResult } from '../domain/poll-answers';
import { seenOf } from '../domain/seen-runs';
import { type GetVideoResult, type MediaClient } from '../service/media-client';
import { recordDigest } from '../service/record-digest';
import { type AccountRegistry } from './accounts';
import { PollGate } from './poll-gate';
import { dueAt } from './poll-spread';

export interface PollDeps {
  readonly accounts: AccountRegistry;
  /** How many GETs of one tick are open at a time. @default 64 */
  readonly pollConcurrency?: number;
}

interface PollTarget {
  readonly index: number;
  readonly taskId: string;
  /** The task among those of all accounts. */
  readonly task: string;
  readonly model: string;
  readonly seen: string;
  /** In milliseconds since the epoch. */
  readonly dueAt: number;
}

/**
 * One tick: a GET per task, answered with what changed (design 4.4). Throws for nothing that the service answers.
 * A task without an answer when the budget ends is `late`; its GET goes on, and the next tick takes its answer.
 */
export function createPollVideos(deps: PollDeps): (input: PollVideosInput) => Promise<PollVideosResult> {
  const gate = new PollGate();
  const open = new Map<string, Promise<GetVideoResult>>();

  return async (input) => {
    const now = Date.now();
    const targets = flatten(input, (task) => dueAt(task, gate.lastPolled(task), now, input.spread));
    const account = deps.accounts.find(input.account);
    if (account === undefined) {
      return {
        answers: targets.map(({ index }) => ({ index, error: 'account_not_configured', unsent: true })),
      };
    }
    // What waited longest comes first: a tick that is cut short must not leave out the same tasks every time.
    targets.sort((a, b) => a.dueAt - b.dueAt || gate.lastPolled(a.task) - gate.lastPolled(b.task));
    const tick = new Tick(input, account.client, gate, open);
    await inLanes(targets, Math.min(deps.pollConcurrency ?? 64, targets.length), (target) =>
      tick.poll(target),
    );
    tick.end();
    return { answers: tick.answers };
  };
}

class Tick {
  readonly answers: PollAnswer[] = [];
  private readonly endsAt: number;
  private readonly ended: Promise<'late'>;
  private endNow: () => void = () => undefined;

  constructor(
    private readonly input: PollVideosInput,
    private readonly client: MediaClient,
    private readonly gate: PollGate,
    private readonly open: Map<string, Promise<GetVideoResult>>,
  ) {
    this.endsAt = Date.now() + input.budgetMs;
    this.ended = new Promise((resolve) => {
      const timer = setTimeout(() => resolve('late'), input.budgetMs);
      this.endNow = () => clearTimeout(timer);
    });
  }

  end(): void {
    this.endNow();
  }

  async poll(target: PollTarget): Promise<void> {
    const { index, model, seen } = target;
    const early = target.dueAt - Date.now();
    if (early > 0) await delay(early);
    const closed = `${this.input.account} ${model}`;
    const closedFor = this.gate.closedFor(closed);
    if (closedFor > 0) {
      this.answers.push({ index, error: 'rate_limited', retryAfterMs: closedFor, unsent: true });
      return;
    }
    const result = Date.now() >= this.endsAt ? 'late' : await Promise.race([this.get(target), this.ended]);
    if (result === 'late') {
      this.answers.push({ index, error: 'late', unsent: true });
      return;
    }
    if (result.kind === 'record') {
      const digest = result.digest ?? recordDigest(result.record);
      if (digest !== seen) this.answers.push({ index, digest, record: result.record });
      return;
    }
    // Without Retry-After the gate stays shut for the rest of this tick only.
    if (result.error === 'rate_limited') {
      this.gate.close(closed, result.retryAfterMs ?? Math.max(0, this.endsAt - Date.now()));
    }
    this.answers.push({
      index,
      error: result.error,
      ...(result.httpStatus === undefined ? {} : { httpStatus: result.httpStatus }),
      ...(result.retryAfterMs === undefined ? {} : { retryAfterMs: result.retryAfterMs }),
    });
  }

  /** One GET per task at a time, and never sooner after the last one than the cadence's minimum. */
  private async get(target: PollTarget): Promise<GetVideoResult> {
    const { task, taskId } = target;
    const running = this.open.get(task);
    if (running !== undefined) return running;
    const wait = this.gate.floorWait(task, this.input.minIntervalMs);
    if (wait > 0) {
      if (Date.now() + wait >= this.endsAt) return new Promise<never>(() => undefined);
      await delay(wait);
      const other = this.open.get(task);
      if (other !== undefined) return other;
      if (this.gate.floorWait(task, this.input.minIntervalMs) > 0) return this.get(target);
    }
    this.gate.polled(task);
    const get = this.client.getVideo(taskId).finally(() => this.open.delete(task));
    this.open.set(task, get);
    return get;
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
        seen: seen[place] ?? '',
        dueAt: dueOf(task),
      });
    });
  }
  return targets;
}
