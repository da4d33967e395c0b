import { type JsonValue } from '../../domain/json';
import { manifestText } from '../../manifest/manifest-text';
import { ManifestUnreadableError } from '../../manifest/manifest-errors';
import { MAX_ROW_CHARACTERS } from '../../manifest/manifest-row';
import { linesOf } from '../../manifest/text-lines';
import { CliError } from '../errors';

/** Columns that all rows of a file of prompts share, the model among them. */
export interface CommonColumns {
  readonly [column: string]: JsonValue;
}

/**
 * Turns a file of prompts into a manifest of JSON lines: every line that is not blank is the prompt of a row, and every
 * row keeps its line, so that messages and results name the lines of the user's own file.
 * @throws CliError `manifest_unreadable`
 */
export async function* promptRows(
  bytes: AsyncIterable<Uint8Array>,
  columns: CommonColumns,
): AsyncGenerator<Uint8Array> {
  let next = 1;
  try {
    for await (const { line, content } of linesOf(manifestText(bytes))) {
      if (content === null)
        throw unusable(`Line ${line} of the prompts has more than ${MAX_ROW_CHARACTERS} characters.`);
      if (content.trim() === '') continue;
      if (next === 1 && isManifest(content))
        throw unusable(
          `Line ${line} begins a manifest and is not a prompt: give the file without --prompts and its options.`,
        );
      const row = JSON.stringify({ ...columns, prompt: content });
      yield Buffer.from(`${'\n'.repeat(line - next)}${row}\n`);
      next = line + 1;
    }
  } catch (error) {
    throw error instanceof ManifestUnreadableError ? unusable(error.message) : error;
  }
}

/** Whether a line is a header with prompt and model, or JSON: each line of such a file would be bought as a prompt. */
function isManifest(line: string): boolean {
  if (line.trimStart().startsWith('{')) return true;
  const names = line.split(/[,;\t]/).map((name) => name.trim().toLowerCase().replace(/^"|"$/g, ''));
  return names.includes('prompt') && names.includes('model');
}

function unusable(message: string): CliError {
  return new CliError('manifest_unreadable', `${message} Nothing was sent.`, {
    hint: 'A file of prompts is plain text (UTF-8) with one prompt in each line; blank lines are left out.',
  });
}
