import { type JsonValue } from '../domain/json';
import { badInput } from './cli-error';

/** Reads `--field NAME=VALUE`: a value that is JSON is sent as that, anything else as text. @throws CliError */
export function readFields(values: readonly string[] = []): { [name: string]: JsonValue } | undefined {
  if (values.length === 0) return undefined;
  const fields = new Map<string, JsonValue>();
  for (const value of values) {
    const equals = value.indexOf('=');
    if (equals < 1) throw badInput([{ field: '--field', message: 'A field is given as NAME=VALUE.' }]);
    const name = value.slice(0, equals);
    if (fields.has(name)) throw badInput([{ field: '--field', message: `${name} is given twice.` }]);
    fields.set(name, jsonOrText(value.slice(equals + 1)));
  }
  return Object.fromEntries(fields);
}

function jsonOrText(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}
