import { nearNames } from './near-names';
import { type ValidationIssue } from './validation-issue';

/** The keys that an object may have; those of an object within it where they are validated too. */
export interface Keys {
  readonly [name: string]: true | Keys;
}

/** Every key of a type, of each member of a union: a table that `satisfies` this cannot drift from its type. */
export type KeysOf<T> = { readonly [key in T extends unknown ? keyof T : never]: true | Keys };

/**
 * The first key that nobody knows, with what may have been meant: an option under a name of another spelling would be
 * passed over in silence, and something else would be bought. Undefined when all are known.
 * @param path where the value stands, for the field
 */
export function unknownKey(value: unknown, known: Keys, path = ''): ValidationIssue | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    // A key without a value is not given.
    if (inner === undefined) continue;
    const field = `${path}${path === '' ? '' : '.'}${shown(name)}`;
    const keys = Object.hasOwn(known, name) ? known[name] : undefined;
    if (keys === undefined) return unknownIssue(name, field, Object.keys(known));
    const issue = keys === true ? undefined : unknownKey(inner, keys, field);
    if (issue !== undefined) return issue;
  }
  return undefined;
}

function unknownIssue(name: string, field: string, known: readonly string[]): ValidationIssue {
  const [near] = nearNames(name, known, 1);
  const meant = near === undefined ? `Known are ${known.join(', ')}.` : `Did you mean ${near}?`;
  return { field, message: `${field} is not known. ${meant}`, allowed: known };
}

/** Names are chosen by others: long ones and odd ones are cut down to what a line can show. */
function shown(name: string): string {
  return name.slice(0, 60).replace(/[^\w.$@[\]-]/g, '?');
}
