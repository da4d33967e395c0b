/** Length of the window, shortest time that gives a rate, and time between samples. Milliseconds. */
const WINDOW_MS = 5 * 60_000;
const LEAST_MS = 30_000;
const SAMPLE_MS = 10_000;

/** How fast rows end, from samples `[workflow time, rows that have ended]`. */
export class EndRate {
  private samples: (readonly [at: number, ended: number])[];

  constructor(saved: readonly (readonly [at: number, ended: number])[] = []) {
    this.samples = [...saved];
  }

  note(now: number, ended: number): void {
    const last = this.samples.at(-1);
    if (last !== undefined && now - last[0] < SAMPLE_MS) return;
    this.samples = [...this.samples.filter(([at]) => now - at <= WINDOW_MS), [now, ended]];
  }

  /** Rows per minute; null while the samples cover too little time, or when nothing ended. */
  perMinute(now: number, ended: number): number | null {
    const first = this.samples.find(([at]) => now - at <= WINDOW_MS);
    if (first === undefined || now - first[0] < LEAST_MS || ended <= first[1]) return null;
    return ((ended - first[1]) * 60_000) / (now - first[0]);
  }

  save(): readonly (readonly [at: number, ended: number])[] {
    return this.samples;
  }
}
