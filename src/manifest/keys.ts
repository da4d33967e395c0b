import { contentKey } from '../domain/campaign/row';

/** Assigns every row its key and detects duplicate keys. */
export class RowKeys {
  /** Line of the first row with a key. */
  readonly #lines = new Map<string, number>();
  /** Number of rows without an id, by content. */
  readonly #occurrences = new Map<string, number>();

  /** @returns the key, or the line of the earlier row with this key */
  keyOf(
    id: string | undefined,
    content: string,
    line: number,
  ): { readonly key: string } | { readonly takenBy: number } {
    const key = id ?? this.#contentKey(content);
    const takenBy = this.#lines.get(key);
    if (takenBy !== undefined) return { takenBy };
    this.#lines.set(key, line);
    return { key };
  }

  /** The key from the content and its occurrence, counted from 0; independent of the rows with other contents. */
  #contentKey(content: string): string {
    const occurrence = this.#occurrences.get(content) ?? 0;
    this.#occurrences.set(content, occurrence + 1);
    return contentKey(content, occurrence);
  }
}
