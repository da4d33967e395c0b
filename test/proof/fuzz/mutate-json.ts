import { type JsonValue } from '../../../src/domain/json';
import { type SeededRandom } from './seeded-random';

const TEXTS = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\u202e\u200b',
  '../../x',
  '%2e%2e%2f',
  '__proto__',
  'constructor',
  'toString',
  '<html><title>x</title>',
  '{"error":{"code":"x","message":"y"}}',
  '[[[[[[[[[[',
  'data:image/png;base64,iVBORw0KGgo=',
  'data:,',
  'https://u:p@media.example/a?X-Amz-Signature=abc',
  'http://[::1]:1/',
  '//host/x',
  '/v1/x.mp4',
  '/etc/passwd',
  'failed',
  'COMPLETED',
  '1e5',
  '100',
  '-1',
  '٣',
  '½',
  '😀'.repeat(40),
];
const NUMBERS = [0, -0, 1, -1, 0.5, 100, 100.000001, 1e308, -1e308, 5e-324, 2 ** 53, 2 ** 31, 4_294_967_295];

/** Changes one to five places of a value, as services differ from each other and as liars go further. */
export function mutatedJson(seed: JsonValue, random: SeededRandom, words: readonly string[]): JsonValue {
  const root = { value: structuredClone(seed) };
  for (let left = 1 + random.below(5); left > 0; left -= 1) changeSomewhere(root, random, words);
  return root.value;
}

/** A value out of nothing; `depth` is how deep it may go. */
export function randomJson(random: SeededRandom, words: readonly string[], depth: number): JsonValue {
  switch (random.below(depth > 0 ? 9 : 6)) {
    case 0:
      return null;
    case 1:
      return random.oneIn(2);
    case 2:
      return random.pick(NUMBERS);
    case 3:
      return random.pick(words);
    case 4:
      return random.oneIn(30) ? random.pick(words).repeat(1 + random.below(2_000)) : random.pick(TEXTS);
    case 5:
      return random.below(1_000);
    case 6:
      return random.oneIn(20) ? nested(random) : list(random, words, depth);
    default:
      return object(random, words, depth);
  }
}

function list(random: SeededRandom, words: readonly string[], depth: number): JsonValue {
  const length = random.oneIn(40) ? random.below(2_000) : random.below(4);
  const sample = randomJson(random, words, depth - 1);
  return Array.from({ length }, () => (length > 4 ? sample : randomJson(random, words, depth - 1)));
}

function object(random: SeededRandom, words: readonly string[], depth: number): JsonValue {
  const fields = Array.from({ length: random.below(5) }, () => [
    random.pick(random.oneIn(8) ? TEXTS : words),
    randomJson(random, words, depth - 1),
  ]);
  return Object.fromEntries(fields) as JsonValue;
}

function nested(random: SeededRandom): JsonValue {
  let value: JsonValue = 1;
  const named = random.oneIn(2);
  for (let depth = random.below(100); depth > 0; depth -= 1) value = named ? { error: value } : [value];
  return value;
}

type Holder = { [name: string]: JsonValue };

/** Goes down a random way and changes what is there. */
function changeSomewhere(root: { value: JsonValue }, random: SeededRandom, words: readonly string[]): void {
  let holder = root as unknown as Holder;
  let name = 'value';
  for (let depth = 0; ; depth += 1) {
    const inner = holder[name];
    // A change of the whole value leaves nothing for the other changes.
    if (typeof inner !== 'object' || inner === null || random.oneIn(depth === 0 ? 20 : 3)) break;
    const names = Object.keys(inner);
    if (names.length === 0) break;
    holder = inner as Holder;
    name = random.pick(names);
  }
  change(holder, name, random, words);
}

function change(holder: Holder, name: string, random: SeededRandom, words: readonly string[]): void {
  const old = holder[name] ?? null;
  const put = (to: string, value: JsonValue) =>
    Object.defineProperty(holder, to, { value, enumerable: true, configurable: true, writable: true });
  const isRoot = name === 'value' && Object.keys(holder).length === 1;
  switch (random.below(7)) {
    case 0:
      if (!isRoot && !Array.isArray(holder)) delete holder[name];
      return;
    case 1:
      if (!isRoot && !Array.isArray(holder)) put(random.pick(words), old);
      return;
    case 2:
      return void put(name, [old]);
    case 3:
      return void put(name, { [random.pick(words)]: old });
    case 4:
      return void put(name, typeof old === 'string' ? Number(old) || 7 : JSON.stringify(old));
    case 5:
      if (typeof old === 'string') return void put(name, spoiled(old, random));
      return void put(name, random.pick(TEXTS));
    default:
      return void put(name, randomJson(random, words, 3));
  }
}

function spoiled(text: string, random: SeededRandom): string {
  const at = random.below(text.length + 1);
  return `${text.slice(0, at)}${random.pick(TEXTS)}${text.slice(at + random.below(3))}`;
}
