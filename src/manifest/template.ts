import { stringify } from 'csv-stringify';
import { type ImageModel, type ModelEntry, type VideoModel } from '../domain/model-config';

/** Columns for model-specific fields; more than these nobody fills in by hand. */
const MOST_FIELDS = 20;
/** Stands in the template when no model is configured. */
const PLACEHOLDER = 'MODEL';

type Row = { readonly [column: string]: string };

/**
 * A CSV file to begin with: the columns that the configured models use, and one row for each of them with its first
 * values. With a byte order mark, so that spreadsheets read and save it as UTF-8. Plans as it is.
 * @param models of the live configuration; undefined when there is none
 */
export async function manifestTemplate(models: readonly ModelEntry[] | undefined): Promise<string> {
  const rows = models === undefined || models.length === 0 ? [unconfigured()] : models.map(exampleRow);
  const columns = [...new Set(['id', 'model', 'prompt', ...columnsOf(models ?? [])])];
  return new Promise((resolve, reject) => {
    stringify(rows, { header: true, columns, bom: true }, (error, text) => {
      if (error) reject(error);
      else resolve(text);
    });
  });
}

function unconfigured(): Row {
  return { id: 'first', model: PLACEHOLDER, prompt: 'A ship in a storm, seen from above' };
}

function exampleRow(model: ModelEntry, index: number): Row {
  const id = `row-${index + 1}`;
  if (model.kind === 'video')
    return {
      id,
      model: model.id,
      prompt: 'A ship in a storm, seen from above',
      ...first('duration', model.durations),
      ...first('resolution', model.resolutions),
      ...first('aspect_ratio', model.aspectRatios),
    };
  return {
    id,
    model: model.id,
    prompt: 'A lighthouse at night, oil on canvas',
    ...first('size', model.sizes),
    ...first('quality', model.qualities),
    ...(model.maxN !== undefined && { n: '1' }),
  };
}

function first(column: string, values: readonly (string | number)[] | undefined): Row {
  const [value] = values ?? [];
  return value === undefined ? {} : { [column]: String(value) };
}

function columnsOf(models: readonly ModelEntry[]): string[] {
  const videos = models.filter((model): model is VideoModel => model.kind === 'video');
  const images = models.filter((model): model is ImageModel => model.kind === 'image');
  const edits = images.flatMap(({ edit }) => edit ?? []);
  const fields = new Set(models.flatMap((model) => model.fields ?? []));
  const when = (wanted: boolean, ...columns: readonly string[]) => (wanted ? columns : []);
  return [
    ...when(videos.length > 0 || models.length === 0, 'duration', 'resolution', 'aspect_ratio'),
    ...videos.flatMap(referenceColumns),
    ...when(images.length > 0, 'size'),
    ...when(
      images.some(({ qualities }) => qualities !== undefined),
      'quality',
    ),
    ...when(
      images.some(({ maxN }) => maxN !== undefined),
      'n',
    ),
    ...when(edits.length > 0, 'images'),
    ...when(
      edits.some(({ mask }) => mask === true),
      'mask',
    ),
    ...[...fields].slice(0, MOST_FIELDS).map((name) => `field:${name}`),
  ];
}

/** `image_reference`, or one column for each wire field where a model has several for one kind. */
function referenceColumns({ references = [] }: VideoModel): string[] {
  return references.map(({ kind, field }) =>
    references.filter((other) => other.kind === kind).length === 1
      ? `${kind}_reference`
      : `${kind}_reference:${field}`,
  );
}
