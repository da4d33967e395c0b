import { type ModelEntry, type ReferenceMapping } from '../../domain/model-config';
import { formatMoney } from '../../domain/price';
import { shellWord } from '../shell-word';

/** A price rule in a few words; `unknown` without one, which is never free (C1.5). */
export function priceText({ kind, price: rule }: ModelEntry): string {
  if (rule === undefined) return 'unknown';
  // An image call may make several results and pays for each (C1.7).
  const unit = rule.per === 'task' && kind === 'image' ? 'result' : rule.per;
  if (rule.per !== 'specification') return `${formatMoney(rule)} per ${unit}`;
  const prices = rule.specifications.map(({ microUnits }) => microUnits);
  if (prices.length === 0) return 'unknown';
  const money = (microUnits: number): string => formatMoney({ microUnits, currency: rule.currency });
  const [least, most] = [Math.min(...prices), Math.max(...prices)];
  return least === most ? `${money(least)} by specification` : `${money(least)} to ${money(most)}`;
}

/** One line per price of a list by specification. */
export function priceLines(entry: ModelEntry): string[] {
  const { price: rule } = entry;
  if (rule?.per !== 'specification') return [priceText(entry)];
  return rule.specifications.map(({ microUnits, ...conditions }) => {
    const when = Object.entries(conditions).map(([name, value]) => `${name} ${value}`);
    return `${formatMoney({ microUnits, currency: rule.currency })} ${when.length === 0 ? 'otherwise' : `for ${when.join(', ')}`}`;
  });
}

/** What `--reference` looks like for one field of a model: a second field of one kind must be named. */
export function referenceOption(mapping: ReferenceMapping, all: readonly ReferenceMapping[]): string {
  const { kind, field, form } = mapping;
  const twins = all.filter((other) => other.kind === kind).length > 1;
  const value = form === 'url' ? `https://example.com/${SAMPLE[kind]}` : SAMPLE[kind];
  return `--reference ${kind}${twins ? `:${field}` : ''}=${value}`;
}

const SAMPLE = { image: 'picture.png', video: 'clip.mp4', audio: 'voice.mp3' } as const;

/** A command that the model accepts, with its first allowed values. */
export function exampleCommand(entry: ModelEntry): string {
  const words = ['temporal-media', entry.kind, '--model', entry.id, '--prompt', 'a paper boat on a lake'];
  if (entry.kind === 'image') {
    if (entry.sizes?.[0] !== undefined) words.push('--size', entry.sizes[0]);
    return words.map(shellWord).join(' ');
  }
  const [duration] = entry.durations ?? [];
  if (duration !== undefined) words.push('--duration', String(duration));
  if (entry.resolutions?.[0] !== undefined) words.push('--resolution', entry.resolutions[0]);
  if (entry.aspectRatios?.[0] !== undefined) words.push('--aspect-ratio', entry.aspectRatios[0]);
  return words.map(shellWord).join(' ');
}
