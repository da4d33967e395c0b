import { MAX_ROW_CHARACTERS } from './manifest-row';

/** The text of a row, and the number of the line in which it begins. */
export interface Line {
  readonly line: number;
  /** Null for a text that is too long. */
  readonly content: string | null;
}

export async function* linesOf(text: AsyncIterable<string>): AsyncGenerator<Line> {
  let rest: string | null = '';
  let line = 1;
  for await (const piece of text) {
    let from = 0;
    for (let end = piece.indexOf('\n'); end >= 0; end = piece.indexOf('\n', from)) {
      yield { line, content: joined(rest, piece.slice(from, end)) };
      rest = '';
      line += 1;
      from = end + 1;
    }
    rest = joined(rest, piece.slice(from));
  }
  if (rest !== '') yield { line, content: rest };
}

/** A text with more of it; null when that is longer than a row may be. */
export function joined(rest: string | null, more: string): string | null {
  return rest === null || rest.length + more.length > MAX_ROW_CHARACTERS ? null : rest + more;
}
