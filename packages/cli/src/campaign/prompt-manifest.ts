import { type JsonValue } from 'temporal-media';
import { given } from 'temporal-media/internal/domain/json';
import {
  linesOf,
  manifestText,
  ManifestUnreadableError,
  MAX_ROW_CHARACTERS,
} from 'temporal-media/internal/manifest/manifest-text';
import { badInput, CliError } from '../shared/errors';
import { readFields } from '../shared/paid-options';
import { type ManifestInput } from './manifest';
import { countOf, type PromptOptions, type RunOptions } from './options';

/** Options whose values apply to all rows, each with its field and the equivalent manifest column. */
const COLUMNS = [
  ['--model', 'model', 'model'],
  ['--duration', 'duration', 'duration'],
  ['--resolution', 'resolution', 'resolution'],
  ['--aspect-ratio', 'aspectRatio', 'aspect_ratio'],
  ['--size', 'size', 'size'],
  ['--quality', 'quality', 'quality'],
  ['--n', 'n', 'n'],
  ['--field', 'field', 'field:NAME'],
] as const satisfies readonly (readonly [string, keyof PromptOptions, string])[];

/** The source of a run's rows. */
export interface RowsSource {
  /** A file, `-`, a URL or an artifact. */
  readonly from: string;
  /** Columns that all rows of a prompts file share. Absent for a manifest. */
  readonly columns?: CommonColumns;
  readonly format: 'csv' | 'jsonl' | undefined;
}

/** Determines where a run's rows come from. @throws CliError for conflicting options */
export function rowsSource(manifest: string | undefined, options: RunOptions): RowsSource {
  const { prompts, format } = options;
  if (prompts === undefined) {
    const [lost] = COLUMNS.filter(([, name]) => options[name] !== undefined);
    if (lost !== undefined)
      throw badInput([
        { field: lost[0], message: `requires --prompts. In a manifest, use the ${lost[2]} column.` },
      ]);
    if (manifest === undefined)
      throw badInput([{ field: 'manifest', message: 'is required, unless --prompts FILE is set.' }]);
    return { from: notEmpty('manifest', manifest), format };
  }
  if (manifest !== undefined)
    throw badInput([{ field: '--prompts', message: 'cannot be combined with a manifest.' }]);
  if (format !== undefined)
    throw badInput([
      { field: '--format', message: 'applies to a manifest and cannot be combined with --prompts.' },
    ]);
  if (options.model === undefined)
    throw badInput([{ field: '--model', message: 'is required with --prompts.' }]);
  return { from: notEmpty('--prompts', prompts), columns: commonColumns(options), format: 'jsonl' };
}

/** Presents a prompts file as a manifest. Its rows cannot refer to files. */
export function asManifest(input: ManifestInput, columns: CommonColumns): ManifestInput {
  return {
    ...input,
    open: async () => promptRows(await input.open(), columns),
    folder: null,
    artifact: null,
  };
}

function commonColumns(options: PromptOptions): CommonColumns {
  for (const [option, name] of COLUMNS) {
    const value = options[name];
    if (typeof value === 'string') notEmpty(option, value);
  }
  const { model = '', duration, resolution, aspectRatio, size, quality, n, field } = options;
  return {
    model,
    ...given({
      duration: countOf('--duration', duration),
      resolution,
      aspect_ratio: aspectRatio,
      size,
      quality,
      n: countOf('--n', n),
      fields: readFields(field),
    }),
  };
}

function notEmpty(field: string, value: string): string {
  if (value.trim() !== '') return value;
  throw badInput([{ field, message: 'must not be empty.' }]);
}

/** Columns that all rows of a prompts file share, including the model. */
export interface CommonColumns {
  readonly [column: string]: JsonValue;
}

/**
 * Turns a prompts file into a JSON-lines manifest: every non-blank line becomes a row's prompt. Rows keep their line
 * numbers, so messages and results refer to lines in the user's own file.
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
        throw unusable(`Line ${line} of the prompts file is longer than ${MAX_ROW_CHARACTERS} characters.`);
      if (content.trim() === '') continue;
      if (next === 1 && isManifest(content))
        throw unusable(
          `Line ${line} looks like the start of a manifest, not a prompt. Pass a manifest without --prompts and its options.`,
        );
      const row = JSON.stringify({ ...columns, prompt: content });
      yield Buffer.from(`${'\n'.repeat(line - next)}${row}\n`);
      next = line + 1;
    }
  } catch (error) {
    throw error instanceof ManifestUnreadableError ? unusable(error.message) : error;
  }
}

/**
 * Whether a line is JSON or a CSV header. If such a manifest were read as a prompts file, each of its lines would be
 * bought as a prompt.
 */
function isManifest(line: string): boolean {
  if (line.trimStart().startsWith('{')) return true;
  const names = line.split(/[,;\t]/).map((name) => name.trim().toLowerCase().replace(/^"|"$/g, ''));
  return names.includes('prompt') && names.includes('model');
}

function unusable(message: string): CliError {
  return new CliError('manifest_unreadable', `${message} Nothing was sent.`, {
    hint: 'A prompts file is plain text (UTF-8) with one prompt per line. Blank lines are skipped.',
  });
}
