import { extname, resolve } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import { type ImageModel, type ModelEntry, type VideoModel } from 'temporal-media';
import { given } from 'temporal-media/internal/domain/json';
import { MANIFEST_COLUMNS } from 'temporal-media/internal/manifest/columns';
import {
  type CommandContext,
  type CommonOptions,
  effectiveConfig,
  effectiveEnvironment,
} from '../shared/context';
import { badInput } from '../shared/errors';
import { modelsInForce } from '../shared/models-in-force';
import { writeNamedFile } from '../shared/output-files';
import { shellWord } from '../shared/text';

/** One row of a template: columns by name. */
type TemplateRow = { readonly [column: string]: string | number };

/** Maximum number of rows in a template, which contains one row per model. */
const MOST_ROWS = 50;

/** A sample manifest with the columns of some models and one row of allowed values per model. */
interface ManifestTemplate {
  readonly columns: readonly string[];
  readonly rows: readonly TemplateRow[];
}

export function manifestTemplate(models: readonly ModelEntry[]): ManifestTemplate {
  const columns = new Set(['id', 'model', 'prompt']);
  for (const model of models) for (const column of columnsOf(model)) columns.add(column);
  if (models.length === 0) for (const name of ['duration', 'resolution', 'aspect_ratio']) columns.add(name);
  const names = [...columns].sort((a, b) => placeOf(a) - placeOf(b));
  const rows = models.slice(0, MOST_ROWS).map(exampleRow);
  return {
    columns: names,
    // The model is left empty, so the row stays invalid until the user enters a model. A made-up name would be sent to
    // the service.
    rows: rows.length > 0 ? rows : [{ id: 'row-1', model: '', prompt: VIDEO_PROMPT }],
  };
}

export function templateText({ columns, rows }: ManifestTemplate, format: 'csv' | 'jsonl'): string {
  if (format === 'jsonl') return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  return stringify([columns, ...rows.map((row) => columns.map((name) => row[name] ?? ''))]);
}

/** Returns one line per template column. Each line explains the column's purpose. */
export function columnHelp({ columns }: ManifestTemplate): string[] {
  return columns.map((name) => {
    const found = MANIFEST_COLUMNS.find((one) => one.name === name.split(':')[0]);
    return `  ${name}: ${found?.about ?? ''}`;
  });
}

const VIDEO_PROMPT = 'Scene, motion, camera and audio';
const IMAGE_PROMPT = 'Scene, subject, composition and style';

function columnsOf(model: ModelEntry): string[] {
  const fields = (model.fields ?? []).map((name) => `field:${name}`);
  return [...(model.kind === 'video' ? videoColumns(model) : imageColumns(model)), ...fields];
}

function videoColumns({ durations, resolutions, aspectRatios, references = [] }: VideoModel): string[] {
  const kinds = references.map(({ kind, field }) =>
    // Includes the field name only when the model has several fields of this kind.
    references.filter((one) => one.kind === kind).length > 1
      ? `${kind}_reference:${field}`
      : `${kind}_reference`,
  );
  return [
    ...(durations === undefined ? [] : ['duration']),
    ...(resolutions === undefined ? [] : ['resolution']),
    ...(aspectRatios === undefined ? [] : ['aspect_ratio']),
    ...kinds,
  ];
}

function imageColumns({ sizes, qualities, maxN, responseFormats, edit }: ImageModel): string[] {
  return [
    ...(sizes === undefined ? [] : ['size']),
    ...(qualities === undefined ? [] : ['quality']),
    ...(maxN === undefined ? [] : ['n']),
    ...(responseFormats === undefined ? [] : ['response_format']),
    ...(edit === undefined ? [] : ['images']),
    ...(edit?.mask === true ? ['mask'] : []),
  ];
}

function exampleRow(model: ModelEntry, index: number): TemplateRow {
  const common = { id: `row-${index + 1}`, model: model.id };
  if (model.kind === 'image') {
    const [size] = model.sizes ?? [];
    return { ...common, prompt: IMAGE_PROMPT, ...given({ size }) };
  }
  const [duration] = model.durations ?? [];
  const [resolution] = model.resolutions ?? [];
  const [ratio] = model.aspectRatios ?? [];
  return {
    ...common,
    prompt: VIDEO_PROMPT,
    ...given({ duration, resolution, aspect_ratio: ratio }),
  };
}

/** Returns a column's index in the column table. */
function placeOf(name: string): number {
  const base = name.split(':')[0];
  return MANIFEST_COLUMNS.findIndex((one) => one.name === base);
}

const FORMATS: { readonly [extension: string]: 'csv' | 'jsonl' } = {
  '.csv': 'csv',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
};

/** `campaign init`: writes a template with columns and values for the configured models. @throws CliError */
export async function initManifest(
  context: CommandContext,
  name: string,
  options: CommonOptions,
): Promise<void> {
  const { report } = context;
  const format = FORMATS[extname(name).toLowerCase()];
  if (format === undefined)
    throw badInput([
      { field: 'file', message: 'must have one of the allowed extensions.', allowed: Object.keys(FORMATS) },
    ]);
  const { entries, origin } = await modelsInForce(
    effectiveConfig(context, options),
    effectiveEnvironment(context, options),
  );
  const template = manifestTemplate(entries);
  const file = resolve(name);
  await writeNamedFile('file', file, templateText(template, format), { isNew: true });
  if (origin.origin === 'none')
    report.say(
      "No model configuration is available here (MEDIA_MODELS). The template has the columns that all videos share, and its row stays invalid until you enter one of your service's models.",
    );
  report.say('Columns:');
  for (const line of columnHelp(template)) report.say(line);
  report.say(`Then: temporal-media campaign run ${shellWord(name)} --dry-run`);
  report.say(
    'If you have only prompts, `temporal-media campaign run --prompts FILE --model MODEL` reads one prompt per line.',
  );
  report.result(file);
  const { columns, rows } = template;
  report.reply({ ok: true, data: { file, format, columns, rows: rows.length, source: origin } });
}
