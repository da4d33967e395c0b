import { contentKey } from '../domain/campaign/row';
import { keyHash } from './key-hash';
import { KeyTable } from './key-table';

/**
 * Gives every row its key and finds those that are there twice. Keeps 64 bits of each key and content, no text: 16 to 32
 * bytes per row with an id, twice that without (see {@link KeyTable}).
 */
export class RowKeys {
  /** Line of the first row with a key. */
  readonly #lines = new KeyTable();
  /** Rows without an id, by content. */
  readonly #occurrences = new KeyTable();

  /** @returns the key, or the line of the row that has it already */
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

  /** Which of the rows with this content it is, from 0: the rows around it do not matter. */
  #contentKey(content: string): string {
    const hash = keyHash(content);
    const occurrence = this.#occurrences.get(hash);
    this.#occurrences.set(hash, occurrence + 1);
    return contentKey(content, occurrence);
  }
}
