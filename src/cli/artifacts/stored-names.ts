/** Digits of the name of an artifact, and the bytes that they stand for. */
const DIGITS = 64;
const BYTES = DIGITS / 2;

/** The artifacts of a store, by their names, and which of them something names. 33 bytes of memory for each. */
export class StoredNames {
  #names = Buffer.alloc(BYTES * 1024);
  #named = new Uint8Array(1024);
  #count = 0;

  /** @param sha256 comes after all that were added before, as a store lists them */
  add(sha256: string): void {
    if (this.#count === this.#named.length) {
      this.#names = Buffer.concat([this.#names, Buffer.alloc(this.#names.length)]);
      const named = new Uint8Array(this.#count * 2);
      named.set(this.#named);
      this.#named = named;
    }
    this.#names.write(sha256, this.#count * BYTES, 'hex');
    this.#count += 1;
  }

  /** Marks the artifacts that a text names. @returns those that nothing has named before */
  markIn(text: string): string[] {
    const found: string[] = [];
    for (const sha256 of possibleNames(text)) {
      const index = this.#find(sha256);
      if (index === undefined || this.#named[index] === 1) continue;
      this.#named[index] = 1;
      found.push(sha256);
    }
    return found;
  }

  /** Whether an artifact was added and nothing names it. */
  isUnnamed(sha256: string): boolean {
    const index = this.#find(sha256);
    return index !== undefined && this.#named[index] === 0;
  }

  #find(sha256: string): number | undefined {
    const wanted = Buffer.from(sha256, 'hex');
    for (let [low, high] = [0, this.#count]; low < high;) {
      const middle = (low + high) >>> 1;
      const at = middle * BYTES;
      const order = wanted.compare(this.#names, at, at + BYTES);
      if (order === 0) return middle;
      if (order < 0) high = middle;
      else low = middle + 1;
    }
    return undefined;
  }
}

/** What a text must be continued with, so that a name across its end is found. */
export function openEnd(text: string): string {
  return text.slice(-(DIGITS - 1));
}

/**
 * Every 64 lowercase hexadecimal digits in a row, also inside longer rows: what stands before a name may end in such
 * digits, as `\u000a` in JSON does.
 */
function* possibleNames(text: string): Generator<string> {
  for (const [row] of text.matchAll(/[0-9a-f]{64,}/g))
    for (let at = 0; at + DIGITS <= row.length; at += 1) yield row.slice(at, at + DIGITS);
}
