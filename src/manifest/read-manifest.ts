import { csvRows } from './csv-rows';
import { manifestText } from './manifest-text';
import { ManifestUnreadableError } from './manifest-errors';
import { elementsOf } from './json-list';
import { jsonRows } from './json-rows';
import { type ManifestRow } from './manifest-row';
import { linesOf } from './text-lines';

/** Most leading blanks of a manifest, in characters. */
const MOST_BLANKS = 1024 * 1024;

/**
 * Rows of a manifest of any size, one at a time: CSV, JSON lines or a JSON list, detected from the first character.
 * A format that is given decides between CSV and JSON.
 * @throws ManifestUnreadableError, ManifestHeaderError
 */
export async function* readManifest(
  bytes: AsyncIterable<Uint8Array>,
  format?: 'csv' | 'jsonl',
): AsyncGenerator<ManifestRow> {
  const text = manifestText(bytes);
  try {
    let begin = '';
    while (begin.trim() === '') {
      const next = await text.next();
      if (next.done === true) break;
      // Leading blanks are kept for the line numbers, so their length is limited.
      begin += next.value;
      if (begin.length > MOST_BLANKS)
        throw new ManifestUnreadableError('The manifest begins with blanks only.');
    }
    const rest = async function* () {
      yield begin;
      yield* text;
    };
    const first = begin.trim()[0] ?? '';
    if ((format ?? ('{['.includes(first) ? 'jsonl' : 'csv')) === 'csv') yield* csvRows(rest());
    else yield* jsonRows(first === '[' ? elementsOf(rest()) : linesOf(rest()));
  } finally {
    // Closes the file or connection when the consumer stops early.
    await text.return(undefined);
  }
}
