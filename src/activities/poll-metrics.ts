import { type Metrics, NO_METRICS } from '../domain/metrics';
import {
  isFinal,
  type PollAnswer,
  type PollVideosInput,
  type PollVideosResult,
} from '../domain/poll-answers';
import { tickIntervalMs } from '../domain/poll-group';

interface Watched {
  readonly account: string;
  polledAt: number;
  /** After it, the video is polled by another worker or no more. */
  until: number;
}

/** Intervals without a poll after which a video no longer counts as in flight, and the least time for that. */
const MISSED_INTERVALS = 3;
const LEAST_MS = 60_000;
const SAMPLE_MS = 15_000;
/** More tasks than one worker has in flight. */
const MAX_WATCHED = 100_000;

/**
 * Counts the polls of a worker from the answers of its ticks, wherever these run. It sees which videos are in flight,
 * because every tick names them.
 */
export class PollMetrics {
  private readonly watched = new Map<string, Watched>();
  /** Videos in flight by account; one at 0 stays, so that its gauge is set. */
  private readonly inFlight = new Map<string, number>();
  private sampling: NodeJS.Timeout | undefined;

  constructor(
    private readonly metrics: Metrics,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** @param account name of the account that the worker has for the tick */
  count(account: string, input: PollVideosInput, result: PollVideosResult): void {
    if (this.metrics === NO_METRICS) return;
    const ids = input.byModel.flatMap((batch) => batch.ids);
    for (const [answer, polls] of pollsByAnswer(input, result))
      this.metrics.record('polls', polls, { account, answer });
    const finished = new Set<number>();
    for (const answer of result.answers)
      if ('record' in answer && isFinal(answer.record)) finished.add(answer.index);

    const now = this.now();
    const until = now + Math.max(LEAST_MS, MISSED_INTERVALS * tickIntervalMs(input));
    for (const [index, id] of ids.entries()) {
      const task = `${account} ${id}`;
      const known = this.watched.get(task);
      if (finished.has(index)) {
        if (known === undefined) continue;
        this.metrics.record('detection', now - known.polledAt, { account });
        this.remove(task, known);
      } else if (known !== undefined) {
        known.polledAt = now;
        known.until = until;
      } else if (this.watched.size < MAX_WATCHED) {
        this.watched.set(task, { account, polledAt: now, until });
        this.inFlight.set(account, (this.inFlight.get(account) ?? 0) + 1);
      }
    }
    this.report(account);
    // A worker that gets no ticks any more has nothing in flight.
    if (this.watched.size > 0) this.sampling ??= setInterval(() => this.sample(), SAMPLE_MS).unref();
  }

  /** Forgets the videos that no tick has named for a while. */
  sample(): void {
    const now = this.now();
    for (const [task, watched] of this.watched) if (watched.until < now) this.remove(task, watched);
    for (const account of this.inFlight.keys()) this.report(account);
    if (this.watched.size > 0) return;
    clearInterval(this.sampling);
    this.sampling = undefined;
  }

  private remove(task: string, { account }: Watched): void {
    this.watched.delete(task);
    this.inFlight.set(account, (this.inFlight.get(account) ?? 1) - 1);
  }

  private report(account: string): void {
    this.metrics.record('inFlight', this.inFlight.get(account) ?? 0, { account });
  }
}

/** The tasks of a tick, counted by a word for their answer; one that is not mentioned is unchanged. */
export function pollsByAnswer(
  { byModel }: PollVideosInput,
  { answers }: PollVideosResult,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const answer of answers) {
    const word = wordOf(answer);
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const silent = byModel.reduce((sum, { ids }) => sum + ids.length, 0) - answers.length;
  if (silent > 0) counts.set('unchanged', (counts.get('unchanged') ?? 0) + silent);
  return counts;
}

function wordOf(answer: PollAnswer): string {
  if ('record' in answer) return 'record';
  if ('unchanged' in answer) return 'unchanged';
  return answer.error === 'rate_limited' && answer.unsent === true ? 'held' : answer.error;
}
