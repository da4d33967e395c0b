import { ManifestUnreadableError } from './manifest-errors';
import { joined, type Line } from './text-lines';

/**
 * The elements of one JSON list as text, each with the line that it begins in. They are not parsed, so that a broken
 * element costs its row only.
 * @throws ManifestUnreadableError when the list does not end, or text follows it
 */
export async function* elementsOf(text: AsyncIterable<string>): AsyncGenerator<Line> {
  const list = new ListReader();
  for await (const piece of text) yield* list.take(piece);
  list.end();
}

class ListReader {
  #line = 1;
  /** Open brackets and braces: 0 before the list, 1 between its elements. */
  #depth = 0;
  #hasEnded = false;
  #isText = false;
  #isEscaped = false;
  /** The element so far; null when it is too long. */
  #content: string | null = '';
  /** Line of its first sign; 0 before it. */
  #startsAt = 0;

  *take(piece: string): Generator<Line> {
    let from = 0;
    for (let at = 0; at < piece.length; at += 1) {
      const sign = piece[at] as string;
      if (sign === '\n') this.#line += 1;
      if (this.#isText) this.#readText(sign);
      else if (this.#depth === 1 && (sign === ',' || sign === ']')) {
        this.#content = joined(this.#content, piece.slice(from, at));
        from = at + 1;
        yield* this.#element(sign);
      } else if (this.#depth > 0) this.#readSign(sign);
      else if (sign === '[' && !this.#hasEnded) {
        this.#depth = 1;
        from = at + 1;
      } else if (sign.trim() !== '')
        throw new ManifestUnreadableError(`Line ${this.#line} has text behind the end of the JSON list.`);
    }
    if (this.#depth > 0) this.#content = joined(this.#content, piece.slice(from));
  }

  end(): void {
    if (this.#hasEnded) return;
    const line = this.#startsAt || this.#line;
    throw new ManifestUnreadableError(
      `The JSON list does not end: a bracket, a brace or a quote that opens in line ${line} is not closed.`,
    );
  }

  #readText(sign: string): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (sign === '\\') this.#isEscaped = true;
    else if (sign === '"') this.#isText = false;
  }

  #readSign(sign: string): void {
    if (this.#startsAt === 0 && sign.trim() !== '') this.#startsAt = this.#line;
    if (sign === '"') this.#isText = true;
    else if (sign === '[' || sign === '{') this.#depth += 1;
    else if ((sign === ']' || sign === '}') && this.#depth > 1) this.#depth -= 1;
  }

  /** The element before a comma or the end of the list. A comma before the end adds no element. */
  *#element(sign: string): Generator<Line> {
    const content = this.#content;
    if (sign === ',' || content === null || content.trim() !== '')
      yield { line: this.#startsAt || this.#line, content };
    [this.#content, this.#startsAt] = ['', 0];
    if (sign === ']') [this.#depth, this.#hasEnded] = [0, true];
  }
}
