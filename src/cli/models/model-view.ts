import { type ModelEntry, type ReferenceMapping } from '../../domain/model-config';
import { DEFAULT_POLLING, type PollingProfile } from '../../domain/polling-profile';
import { requestBudgetMs } from '../../domain/request-budget';
import { exampleCommand, priceLines, priceText, referenceOption } from './model-text';

/** Everything about one model: its entry, and what follows from it for this command line. */
export interface ModelView {
  readonly model: ModelEntry;
  /** Null for image models. */
  readonly references: readonly ReferenceView[] | null;
  /** Null for image models, whose calls are never polled (C1.2). */
  readonly polling: (PollingProfile & { readonly isDefault: boolean }) | null;
  readonly example: string;
}

export interface ReferenceView extends ReferenceMapping {
  /** What `--reference` looks like. */
  readonly option: string;
}

export function modelView(entry: ModelEntry): ModelView {
  if (entry.kind === 'image')
    return { model: entry, references: null, polling: null, example: exampleCommand(entry) };
  const all = entry.references ?? [];
  return {
    model: entry,
    references: all.map((mapping) => ({ ...mapping, option: referenceOption(mapping, all) })),
    polling: { ...(entry.polling ?? DEFAULT_POLLING), isDefault: entry.polling === undefined },
    example: exampleCommand(entry),
  };
}

/** Rows of `models ls` under their head. */
export function modelRows(entries: readonly ModelEntry[]): string[][] {
  return [
    ['ID', 'KIND', 'DURATIONS', 'RESOLUTIONS / SIZES', 'PRICE'],
    ...entries.map((entry) => [
      entry.id,
      entry.kind,
      entry.kind === 'image' ? '-' : (entry.durations?.join(', ') ?? 'any'),
      (entry.kind === 'image' ? entry.sizes : entry.resolutions)?.join(', ') ?? 'any',
      priceText(entry),
    ]),
  ];
}

/** Name and value of everything that `models show` says in text. */
export function modelLines({ model, references, polling, example }: ModelView): [string, string][] {
  const lines: [string, string][] = [
    ['id', model.id],
    ['kind', model.kind],
  ];
  if (model.kind === 'video') {
    const { durationField = 'seconds', durationForm = 'integer', createForm = 'json' } = model;
    lines.push(
      ['durations', listed(model.durations)],
      ['sent as', `${durationField}, ${durationForm === 'integer' ? 'a number' : 'a text'}`],
      ...(createForm === 'multipart' ? [['create', 'multipart/form-data'] as [string, string]] : []),
      ['resolutions', listed(model.resolutions)],
      ['aspect ratios', listed(model.aspectRatios)],
    );
  } else {
    lines.push(
      ['sizes', listed(model.sizes)],
      ['qualities', model.qualities === undefined ? 'none may be sent' : listed(model.qualities)],
      ['most results', model.maxN === undefined ? ANY : String(model.maxN)],
      [
        'response formats',
        model.responseFormats === undefined ? 'none may be sent' : listed(model.responseFormats),
      ],
      ['edit', editText(model.edit)],
    );
  }
  lines.push(['fields', model.fields === undefined ? ANY : listed(model.fields)]);
  const answered = `answered within ${requestBudgetMs(model.kind, model) / 1000} s`;
  lines.push(['request', model.requestSeconds === undefined ? `${answered} (default)` : answered]);
  for (const reference of references ?? []) lines.push(['reference', referenceText(reference)]);
  if (references?.length === 0) lines.push(['reference', 'takes none']);
  for (const price of priceLines(model)) lines.push(['price', price]);
  if (polling !== null) {
    const { minSeconds, maxSeconds, firstPollSeconds, isDefault } = polling;
    const every = `every ${minSeconds} to ${maxSeconds} s, first after ${firstPollSeconds} s`;
    lines.push(['polling', isDefault ? `${every} (default)` : every]);
  }
  lines.push(['example', example]);
  return lines;
}

/** A list that an entry does not have says nothing. */
const ANY = 'not limited by the configuration';

function listed(values: readonly (string | number)[] | undefined): string {
  return values === undefined ? ANY : values.length === 0 ? 'none' : values.join(', ');
}

function editText(edit: Extract<ModelEntry, { kind: 'image' }>['edit']): string {
  const most = edit?.maxImages === undefined ? '' : `at most ${edit.maxImages} images; `;
  const fields =
    edit?.fields === undefined || edit.fields.length === 0 ? 'no options' : edit.fields.join(', ');
  return `${most}${fields}; ${edit?.mask === true ? 'mask' : 'no mask'}`;
}

function referenceText({ option, field, shape, form, max }: ReferenceView): string {
  const most = shape === 'string' ? 1 : max;
  const sent = form === 'url' ? 'URLs only' : form === 'file' ? 'a file part' : `bytes as ${form}`;
  return `${option} (${field}, ${sent}${most === undefined ? '' : `, at most ${most}`})`;
}
