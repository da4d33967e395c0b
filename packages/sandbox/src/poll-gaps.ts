/** Times between two polls of the same task, in milliseconds; null before the first. */
export interface SandboxPollGaps {
  /** Number of them. */
  gaps: number;
  /** Half are shorter. */
  p50: number | null;
  /** 95 of 100 are shorter. */
  p95: number | null;
  /** 99 of 100 are shorter. */
  p99: number | null;
  /** The longest. */
  max: number | null;
}

const STEP_MS = 10;
const STEPS = 12_000;

/** Histogram of the times between polls; its size does not depend on the number of polls. */
export class PollGaps {
  private readonly last = new Map<string, number>();
  private readonly counts = new Uint32Array(STEPS + 1);
  private gaps = 0;
  private max = 0;

  polled(taskId: string, now: number): void {
    const before = this.last.get(taskId);
    this.last.set(taskId, now);
    if (before === undefined) return;
    const gap = now - before;
    const step = Math.min(STEPS, Math.floor(gap / STEP_MS));
    this.counts[step] = (this.counts[step] ?? 0) + 1;
    this.gaps += 1;
    this.max = Math.max(this.max, gap);
  }

  /** Drops a task that is not polled again. */
  forget(taskId: string): void {
    this.last.delete(taskId);
  }

  /** Resets the histogram; gaps that have already started are still counted. */
  begin(): void {
    this.counts.fill(0);
    this.gaps = this.max = 0;
  }

  clear(): void {
    this.begin();
    this.last.clear();
  }

  show(): SandboxPollGaps {
    const { gaps } = this;
    const max = gaps === 0 ? null : this.max;
    return { gaps, p50: this.share(0.5), p95: this.share(0.95), p99: this.share(0.99), max };
  }

  private share(part: number): number | null {
    if (this.gaps === 0) return null;
    let left = Math.ceil(this.gaps * part);
    for (const [step, count] of this.counts.entries()) {
      left -= count;
      if (left <= 0) return (step + 1) * STEP_MS;
    }
    return STEPS * STEP_MS;
  }
}
