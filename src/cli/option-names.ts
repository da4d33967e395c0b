import { type ValidationIssue } from '../domain/validation-issue';

/** Options whose name says something else than the field of the request that they fill. */
const OPTIONS: { readonly [field: string]: string } = {
  durationSeconds: '--duration',
  aspectRatio: '--aspect-ratio',
  responseFormat: '--response-format',
  waitFor: '--wait-for',
  references: '--reference',
  images: '--image',
  fields: '--field',
  ...Object.fromEntries(
    ['model', 'prompt', 'resolution', 'size', 'quality', 'n', 'mask', 'account'].map((name) => [
      name,
      `--${name}`,
    ]),
  ),
};

/**
 * An issue of the domain as the command line says it: `--duration (durationSeconds) must be …`. The field of the
 * request stays in the words, because scripts look for it.
 */
export function byOption(issue: ValidationIssue): ValidationIssue {
  const root = /^[a-zA-Z]+/.exec(issue.field)?.[0] ?? '';
  const option = Object.hasOwn(OPTIONS, root) ? OPTIONS[root] : undefined;
  if (option === undefined) return issue;
  const field = option === `--${issue.field}` ? option : `${option} (${issue.field})`;
  const words = issue.message.startsWith(`${issue.field} `)
    ? `${field}${issue.message.slice(issue.field.length)}`
    : issue.message;
  const { instead } = issue;
  const other = instead !== undefined && Object.hasOwn(OPTIONS, instead) ? OPTIONS[instead] : undefined;
  const message = other === undefined ? words : `${words} Use ${other}.`;
  return { ...issue, field, message };
}
