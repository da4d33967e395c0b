import { hash } from 'node:crypto';
import { contentKey } from '../domain/campaign/row';

/** Share of slots in use at which the table doubles. */
const FULL = 0.75;

/**
 * Numbers by 64-bit hash, in typed arrays: open addressing with linear probing, doubling when three quarters are in
 * use. A slot takes 8 bytes and 4 for each column, so that a row takes 1.33 to 2.67 times that, and half as much again
 * while the table doubles: 16 to 32 bytes with one column. Keys are never removed.
 */
export class KeyTable {
  #size: number;
  #used = 0;
  #high: Uint32Array;
  #low: Uint32Array;
  #columns: Uint32Array[];

  /** @param columns numbers per key, each of 32 bits; the first one must not be 0 */
  constructor(
    private readonly columns = 1,
    slots = 1024,
  ) {
    this.#size = slots;
    this.#high = new Uint32Array(slots);
    this.#low = new Uint32Array(slots);
    this.#columns = this.#empty(slots);
  }

  get used(): number {
    return this.#used;
  }

  /** Value of one column; 0 when the table does not have the key. */
  get(key: KeyHash, column = 0): number {
    return this.#columns[column]?.[this.#slotOf(key)] ?? 0;
  }

  /** @param values one for each column */
  set(key: KeyHash, ...values: readonly number[]): void {
    if (values[0] === 0) throw new RangeError('The first column must not be 0.');
    if (this.#used >= this.#size * FULL) this.#double();
    const slot = this.#slotOf(key);
    if (this.#columns[0]?.[slot] === 0) this.#used += 1;
    this.#put(slot, key.high, key.low, values);
  }

  #put(slot: number, high: number, low: number, values: readonly number[]): void {
    this.#high[slot] = high;
    this.#low[slot] = low;
    values.forEach((value, column) => {
      const numbers = this.#columns[column];
      if (numbers !== undefined) numbers[slot] = value;
    });
  }

  /** Slot of the key, or the free slot for it. */
  #slotOf({ high, low }: KeyHash): number {
    const first = this.#columns[0];
    let slot = low & (this.#size - 1);
    while (first?.[slot] !== 0 && !(this.#high[slot] === high && this.#low[slot] === low))
      slot = (slot + 1) & (this.#size - 1);
    return slot;
  }

  #double(): void {
    const [high, low, columns, size] = [this.#high, this.#low, this.#columns, this.#size];
    this.#size = size * 2;
    this.#high = new Uint32Array(this.#size);
    this.#low = new Uint32Array(this.#size);
    this.#columns = this.#empty(this.#size);
    for (let slot = 0; slot < size; slot += 1) {
      if (columns[0]?.[slot] === 0) continue;
      const key = { high: high[slot] ?? 0, low: low[slot] ?? 0 };
      const values = columns.map((numbers) => numbers[slot] ?? 0);
      this.#put(this.#slotOf(key), key.high, key.low, values);
    }
  }

  #empty(slots: number): Uint32Array[] {
    return Array.from({ length: this.columns }, () => new Uint32Array(slots));
  }
}

/**
 * Assigns every row its key and detects duplicate keys. Keeps 64 bits of each key and content, no text: 16 to 32 bytes
 * per row with an id, twice that without (see {@link KeyTable}).
 */
export class RowKeys {
  /** Line of the first row with a key. */
  readonly #lines = new KeyTable();
  /** Number of rows without an id, by content. */
  readonly #occurrences = new KeyTable();

  /** @returns the key, or the line of the earlier row with this key */
  keyOf(
    id: string | undefined,
    content: string,
    line: number,
  ): { readonly key: string } | { readonly takenBy: number } {
    const key = id ?? this.#contentKey(content);
    const hash = keyHash(key);
    const takenBy = this.#lines.get(hash);
    if (takenBy !== 0) return { takenBy };
    this.#lines.set(hash, line);
    return { key };
  }

  /** The key from the content and its occurrence, counted from 0; independent of the rows with other contents. */
  #contentKey(content: string): string {
    const hash = keyHash(content);
    const occurrence = this.#occurrences.get(hash);
    this.#occurrences.set(hash, occurrence + 1);
    return contentKey(content, occurrence);
  }
}

/** 64 bits of the SHA-256 of a text, as two unsigned numbers of 32 bits. */
export interface KeyHash {
  readonly high: number;
  readonly low: number;
}

/** For tables of many keys: with a million keys, two have the same 64 bits in one of thirty million manifests. */
export function keyHash(key: string): KeyHash {
  const digest = hash('sha256', key, 'hex');
  return { high: parseInt(digest.slice(0, 8), 16), low: parseInt(digest.slice(8, 16), 16) };
}
