import fc from 'fast-check';
import { type JsonValue } from '../../src/domain/json';

/** One change at one place; `at` chooses the place among all of a value. */
interface Change {
  readonly at: number;
  readonly how: 'drop' | 'rename' | 'null' | 'text' | 'list' | 'object' | 'other';
  readonly other: JsonValue;
}

const change: fc.Arbitrary<Change> = fc.record({
  at: fc.nat(10_000),
  how: fc.constantFrom('drop', 'rename', 'null', 'text', 'list', 'object', 'other'),
  other: fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<JsonValue>,
});

/** One to four changes to a value, as services differ from each other: fields dropped, renamed, null, of other types. */
export function mutated(value: JsonValue): fc.Arbitrary<JsonValue> {
  return fc.array(change, { minLength: 1, maxLength: 4 }).map((changes) => changes.reduce(changed, value));
}

function changed(value: JsonValue, { at, how, other }: Change): JsonValue {
  const places = placesOf(value);
  const place = places[at % places.length] ?? [];
  return replaced(value, place, (name, old) => {
    if (how === 'drop') return [];
    if (how === 'rename') return [[`${name}_2`, old]];
    const values: Record<Exclude<Change['how'], 'drop' | 'rename'>, JsonValue> = {
      null: null,
      text: typeof old === 'string' ? Number(old) || 7 : JSON.stringify(old),
      list: [old],
      object: { value: old },
      other,
    };
    return [[name, values[how]]];
  });
}

type Place = readonly string[];

/** Every field and item of a value, the inner ones too. */
function placesOf(value: JsonValue, at: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]): Place[] => [
    [...at, name],
    ...placesOf(inner, [...at, name]),
  ]);
}

function replaced(
  value: JsonValue,
  [first, ...rest]: Place,
  make: (name: string, old: JsonValue) => [string, JsonValue][],
): JsonValue {
  if (first === undefined || typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value as Record<string, JsonValue>).flatMap(([name, old]) => {
    if (name !== first) return [[name, old] as [string, JsonValue]];
    return rest.length === 0 ? make(name, old) : [[name, replaced(old, rest, make)] as [string, JsonValue]];
  });
  return Array.isArray(value) ? entries.map(([, item]) => item) : Object.fromEntries(entries);
}
