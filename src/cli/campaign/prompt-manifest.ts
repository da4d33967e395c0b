import { badInput } from '../errors';
import { given } from '../context';
import { readFields } from '../paid-options';
import { countOf, type PromptOptions, type RunOptions } from './campaign-options';
import { type ManifestInput } from './manifest';
import { type CommonColumns, promptRows } from './prompt-rows';

/** Values that all rows share: the option, its field, and the column of a manifest with the same meaning. */
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

/** Where the rows of a run come from. */
export interface RowsSource {
  /** A file, `-`, an address or an artifact. */
  readonly from: string;
  /** Columns that all rows of a file of prompts share; absent for a manifest. */
  readonly columns?: CommonColumns;
  readonly format: 'csv' | 'jsonl' | undefined;
}

/** @throws CliError for options that exclude each other */
export function rowsSource(manifest: string | undefined, options: RunOptions): RowsSource {
  const { prompts, format } = options;
  if (prompts === undefined) {
    const [lost] = COLUMNS.filter(([, name]) => options[name] !== undefined);
    if (lost !== undefined)
      throw badInput([
        { field: lost[0], message: `goes with --prompts; in a manifest it is the column ${lost[2]}.` },
      ]);
    if (manifest === undefined)
      throw badInput([
        { field: 'manifest', message: 'must be given, or --prompts FILE with one prompt in each line.' },
      ]);
    return { from: notEmpty('manifest', manifest), format };
  }
  if (manifest !== undefined)
    throw badInput([
      { field: '--prompts', message: 'replaces the manifest: give one of the two, not both.' },
    ]);
  if (format !== undefined)
    throw badInput([
      { field: '--format', message: 'is the format of a manifest and does not go with --prompts.' },
    ]);
  if (options.model === undefined)
    throw badInput([{ field: '--model', message: 'is needed with --prompts: the model of all rows.' }]);
  return { from: notEmpty('--prompts', prompts), columns: commonColumns(options), format: 'jsonl' };
}

/** A file of prompts as a manifest, whose rows name no files. */
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
