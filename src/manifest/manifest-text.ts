import { throwBug } from '../domain/bug';
import { type ManifestIssue } from '../domain/campaign/plan';

/** The maximum length of one row, in characters. A larger cell cannot be a prompt. */
export const MAX_ROW_CHARACTERS = 256 * 1024;

/** The manifest as a whole cannot be read. The message may name a line but never includes its text. */
export class ManifestUnreadableError extends Error {
  override readonly name = 'ManifestUnreadableError';
}

/** The header names unknown columns, which would make every row invalid. */
export class ManifestHeaderError extends Error {
  override readonly name = 'ManifestHeaderError';

  constructor(readonly issues: readonly ManifestIssue[]) {
    super("The manifest's header contains unknown or repeated columns.");
  }
}

/** A row's text and the number of the line where it starts. */
export interface Line {
  readonly line: number;
  /** Null if the text is too long. */
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

/** Appends text. Returns null if the result is too long for a row. */
export function joined(rest: string | null, more: string): string | null {
  return rest === null || rest.length + more.length > MAX_ROW_CHARACTERS ? null : rest + more;
}

/** How many bytes are read to detect a file's format. */
const HEAD = 4096;

/**
 * Decodes a manifest in the encodings that spreadsheets use: UTF-8 with or without a byte order mark, or UTF-16 with
 * one. Converts every line ending to `\n`, even inside quotes, so the content does not depend on the program that saved
 * the file.
 * @param what what messages call the file
 * @throws ManifestUnreadableError for bytes that are not text
 */
export async function* manifestText(
  bytes: AsyncIterable<Uint8Array>,
  what = 'manifest',
): AsyncGenerator<string> {
  let head: Buffer | undefined = Buffer.alloc(0);
  let decoder: TextDecoder | undefined;
  let line = 1;
  let pendingReturn = false;

  const decode = (chunk: Uint8Array, last: boolean): string => {
    let text: string;
    try {
      text = decoder?.decode(chunk, { stream: !last }) ?? '';
    } catch (error) {
      throwBug(error);
      const near = line + newlinesIn(readablePart(chunk, decoder?.encoding));
      throw new ManifestUnreadableError(
        `The ${what} is not valid UTF-8 near line ${near}. Save it as "CSV UTF-8" or as Unicode text.`,
      );
    }
    const nul = text.indexOf('\0');
    if (nul >= 0) {
      const near = line + newlinesIn(text.slice(0, nul));
      throw new ManifestUnreadableError(
        `The ${what} is not a text file: it contains NUL characters near line ${near}.`,
      );
    }
    if (pendingReturn) text = `\r${text}`;
    pendingReturn = !last && text.endsWith('\r');
    if (pendingReturn) text = text.slice(0, -1);
    if (text.includes('\r')) text = text.replace(/\r\n?/g, '\n');
    line += newlinesIn(text);
    return text;
  };

  for await (const chunk of bytes) {
    if (head === undefined) {
      yield decode(chunk, false);
      continue;
    }
    head = Buffer.concat([head, chunk]);
    if (head.length < HEAD) continue;
    decoder = decoderFor(head, what);
    yield decode(head, false);
    head = undefined;
  }
  decoder ??= decoderFor(head ?? Buffer.alloc(0), what);
  yield decode(head ?? Buffer.alloc(0), true);
}

/** A chunk's text before its first invalid bytes. */
function readablePart(chunk: Uint8Array, encoding: string | undefined): string {
  return new TextDecoder(encoding).decode(chunk).split('\ufffd', 1)[0] ?? '';
}

export function newlinesIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

function decoderFor(head: Buffer, what: string): TextDecoder {
  const starts = (...magic: number[]) => magic.every((byte, index) => head[index] === byte);
  const make = (encoding: string) => new TextDecoder(encoding, { fatal: true });
  if (starts(0xff, 0xfe)) return make('utf-16le');
  if (starts(0xfe, 0xff)) return make('utf-16be');
  if (starts(0x1f, 0x8b))
    throw new ManifestUnreadableError(`The ${what} is compressed (gzip). Unpack it first.`);
  if (starts(0x50, 0x4b, 3, 4))
    throw new ManifestUnreadableError(
      `The ${what} is a spreadsheet file or an archive. Save the sheet as "CSV UTF-8".`,
    );
  if (head.subarray(0, HEAD).includes(0))
    throw new ManifestUnreadableError(
      `The ${what} is not a text file: it contains NUL bytes. Save it as UTF-8, or as UTF-16 with a byte order mark.`,
    );
  return make('utf-8');
}
