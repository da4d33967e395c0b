import { type ModelEntry, type ReferenceMapping, type PollingProfile } from 'temporal-media';
import { DEFAULT_POLLING } from 'temporal-media';
import { formatMoney } from 'temporal-media/internal/domain/money';
import { requestBudgetMs } from 'temporal-media/internal/domain/timeouts';
import { shellWord } from '../shared/text';

/** A model's entry, and how to use the model from the command line. */
interface ModelView {
  readonly model: ModelEntry;
  /** Null for image models. */
  readonly references: readonly ReferenceView[] | null;
  /** Null for image models, which are never polled. */
  readonly polling: (PollingProfile & { readonly isDefault: boolean }) | null;
  readonly example: string;
}

interface ReferenceView extends ReferenceMapping {
  /** The `--reference` option for this field. */
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

/** Returns the header and the rows of `models ls`. */
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

/** Returns the names and values that `models show` prints as text. */
export function modelLines({ model, references, polling, example }: ModelView): [string, string][] {
  const lines: [string, string][] = [
    ['id', model.id],
    ['kind', model.kind],
  ];
  if (model.kind === 'video') {
    const { durationField = 'seconds', durationForm = 'integer', createForm = 'json' } = model;
    lines.push(
      ['durations', listed(model.durations)],
      ['sent as', `${durationField}, ${durationForm === 'integer' ? 'a number' : 'a string'}`],
      ...(createForm === 'multipart' ? [['create', 'multipart/form-data'] as [string, string]] : []),
      ['resolutions', listed(model.resolutions)],
      ['aspect ratios', listed(model.aspectRatios)],
    );
  } else {
    lines.push(
      ['sizes', listed(model.sizes)],
      ['qualities', model.qualities === undefined ? 'not allowed' : listed(model.qualities)],
      ['most results', model.maxN === undefined ? ANY : String(model.maxN)],
      [
        'response formats',
        model.responseFormats === undefined ? 'not allowed' : listed(model.responseFormats),
      ],
      ['edit', editText(model.edit)],
    );
  }
  lines.push(['fields', model.fields === undefined ? ANY : listed(model.fields)]);
  const answered = `times out after ${requestBudgetMs(model.kind, model) / 1000} s`;
  lines.push(['request', model.requestSeconds === undefined ? `${answered} (default)` : answered]);
  for (const reference of references ?? []) lines.push(['reference', referenceText(reference)]);
  if (references?.length === 0) lines.push(['reference', 'not supported']);
  for (const price of priceLines(model)) lines.push(['price', price]);
  if (polling !== null) {
    const { minSeconds, maxSeconds, firstPollSeconds, isDefault } = polling;
    const every = `every ${minSeconds} to ${maxSeconds} s, first after ${firstPollSeconds} s`;
    lines.push(['polling', isDefault ? `${every} (default)` : every]);
  }
  lines.push(['example', example]);
  return lines;
}

/** Text for a list that an entry does not specify. */
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
  const sent =
    form === 'url'
      ? 'a URL; a file needs a bucket that signs its URL'
      : form === 'file'
        ? 'a multipart file'
        : `bytes as ${form}`;
  return `${option} (${field}, ${sent}${most === undefined ? '' : `, at most ${most}`})`;
}

/** Describes a price rule in a few words. Without a rule, the price is `unknown`, never free. */
function priceText({ kind, price: rule }: ModelEntry): string {
  if (rule === undefined) return 'unknown';
  // An image call may return several results, each of which is billed (C1.7).
  const unit = rule.per === 'task' && kind === 'image' ? 'result' : rule.per;
  if (rule.per !== 'specification') return `${formatMoney(rule)} per ${unit}`;
  const prices = rule.specifications.map(({ microUnits }) => microUnits);
  if (prices.length === 0) return 'unknown';
  const money = (microUnits: number): string => formatMoney({ microUnits, currency: rule.currency });
  const [least, most] = [Math.min(...prices), Math.max(...prices)];
  return least === most ? `${money(least)} by specification` : `${money(least)} to ${money(most)}`;
}

/** Returns one line for each price in a rule whose prices depend on the specification. */
function priceLines(entry: ModelEntry): string[] {
  const { price: rule } = entry;
  if (rule?.per !== 'specification') return [priceText(entry)];
  return rule.specifications.map(({ microUnits, ...conditions }) => {
    const when = Object.entries(conditions).map(([name, value]) => `${name} ${value}`);
    return `${formatMoney({ microUnits, currency: rule.currency })} ${when.length === 0 ? 'otherwise' : `for ${when.join(', ')}`}`;
  });
}

/**
 * Returns the `--reference` option for a model's field. Includes the field only if the model has several of its kind.
 */
function referenceOption(mapping: ReferenceMapping, all: readonly ReferenceMapping[]): string {
  const { kind, field, form } = mapping;
  const twins = all.filter((other) => other.kind === kind).length > 1;
  const value = form === 'url' ? `https://example.com/${SAMPLE[kind]}` : SAMPLE[kind];
  return `--reference ${kind}${twins ? `:${field}` : ''}=${value}`;
}

const SAMPLE = { image: 'picture.png', video: 'clip.mp4', audio: 'voice.mp3' } as const;

/** Returns a valid command for the model, with its first allowed values. */
function exampleCommand(entry: ModelEntry): string {
  const words = ['temporal-media', entry.kind, '--model', entry.id, '--prompt', 'a paper boat on a lake'];
  if (entry.kind === 'image') {
    if (entry.sizes?.[0] !== undefined) words.push('--size', entry.sizes[0]);
    return words.map((word) => shellWord(word)).join(' ');
  }
  const [duration] = entry.durations ?? [];
  if (duration !== undefined) words.push('--duration', String(duration));
  if (entry.resolutions?.[0] !== undefined) words.push('--resolution', entry.resolutions[0]);
  if (entry.aspectRatios?.[0] !== undefined) words.push('--aspect-ratio', entry.aspectRatios[0]);
  return words.map((word) => shellWord(word)).join(' ');
}
