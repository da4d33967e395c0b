import { nearNames, unseenDifference } from './near-names';
import { type ValidationIssue } from './validation-issue';

/** The keys that an object may have, with those of nested objects that are validated too. */
export interface Keys {
  readonly [name: string]: true | Keys;
}

/** All keys of a type, or of each member of a union: a table that `satisfies` this cannot drift from its type. */
export type KeysOf<T> = { readonly [key in T extends unknown ? keyof T : never]: true | Keys };

/**
 * The first unknown key, with a suggestion; undefined when all keys are known. A misspelt option would otherwise be
 * ignored silently, and something else would be bought.
 * @param path path of the value, for the field
 */
export function unknownKey(value: unknown, known: Keys, path = ''): ValidationIssue | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    // An undefined value counts as absent.
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
  return {
    field,
    message: `${field} is not known. ${meant}${unseenDifference(name, known)}`,
    allowed: known,
  };
}

/** Key names are foreign input: long and unusual ones are reduced to what fits on a line. */
function shown(name: string): string {
  return name.slice(0, 60).replace(/[^\w.$@[\]-]/g, '?');
}
