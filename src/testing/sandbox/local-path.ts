import { isJsonObject } from './json-value';

const localPath = /^(file:|[a-z]:[\\/]|\\\\|~\/|\.{1,2}\/|\/(?!\/))/i;

/**
 * Names of the fields that hold something like a local path (contract 2.4: never in JSON), as dotted paths.
 * `skip` names top-level fields whose text is free, or base64, which may begin with a slash.
 */
export function localPathFields(value: unknown, skip: readonly string[], at = ''): string[] {
  if (typeof value === 'string') return localPath.test(value) ? [at] : [];
  if (Array.isArray(value)) return value.flatMap((inner) => localPathFields(inner, skip, at));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    if (at === '' && skip.includes(name)) return [];
    return localPathFields(inner, skip, at === '' ? name : `${at}.${name}`);
  });
}
