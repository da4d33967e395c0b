/**
 * Keeps what was read lately, up to a weight; what was not asked for the longest goes first. Two who ask for the same at
 * the same time share one reading; one that failed is not kept.
 */
export class LeastRecent<T> {
  readonly #kept = new Map<string, { readonly value: Promise<T>; weight: number }>();
  #weight = 0;

  /** @param most sum of the weights that stay; a single value may weigh more */
  constructor(
    private readonly most: number,
    private readonly weigh: (value: T) => number,
  ) {}

  async get(key: string, read: () => Promise<T>): Promise<T> {
    const found = this.#kept.get(key);
    if (found !== undefined) {
      this.#kept.delete(key);
      this.#kept.set(key, found);
      return found.value;
    }
    const entry = { value: read(), weight: 0 };
    this.#kept.set(key, entry);
    try {
      const value = await entry.value;
      if (this.#kept.get(key) === entry) {
        entry.weight = this.weigh(value);
        this.#weight += entry.weight;
        this.#shrink(key);
      }
      return value;
    } catch (error) {
      if (this.#kept.get(key) === entry) this.#kept.delete(key);
      throw error;
    }
  }

  #shrink(newest: string): void {
    for (const [key, { weight }] of this.#kept) {
      if (this.#weight <= this.most) return;
      if (key === newest || weight === 0) continue;
      this.#kept.delete(key);
      this.#weight -= weight;
    }
  }
}
