/** A seeded source of chance (mulberry32): the same seed gives the same schedule on every machine. */
const { floor, imul } = Math;

export class Random {
  private state: number;

  constructor(seed: number) {
    // Neighbouring seeds must not begin alike.
    this.state = imul(seed ^ 0x9e3779b9, 0x85ebca6b) >>> 0;
    this.next();
  }

  /** In [0, 1). */
  readonly next = (): number => {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + floor(this.next() * (high - low + 1));
  }

  pick<T>(from: readonly T[]): T {
    const picked = from[floor(this.next() * from.length)];
    if (picked === undefined) throw new Error('There is nothing to pick from.');
    return picked;
  }

  /** One of the names, in proportion to their weights. */
  weighted<T extends string>(weights: Readonly<Partial<Record<T, number>>>): T {
    const entries = Object.entries(weights) as [T, number][];
    let left = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      left -= weight;
      if (left < 0) return name;
    }
    throw new Error('There is nothing to pick from.');
  }
}
