import { MAX_ROW_CHARACTERS } from './manifest-row';

/** Lines with their numbers; `content` is null for a line that is too long. */
export async function* linesOf(
  text: AsyncIterable<string>,
): AsyncGenerator<{ readonly line: number; readonly content: string | null }> {
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

function joined(rest: string | null, more: string): string | null {
  return rest === null || rest.length + more.length > MAX_ROW_CHARACTERS ? null : rest + more;
}
