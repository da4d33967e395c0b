import { type PaidRequest, type ValidationIssue } from 'temporal-media';
import { validateRawFields, validateRequest } from 'temporal-media/internal/domain/validate-request';
import { badInput } from './errors';
import { shellWord } from './text';

/** Validates everything that does not need a live model configuration, before anything starts. @throws CliError */
export function refuseInvalidCall(paid: PaidRequest): void {
  const fields = validateRawFields(paid.request.fields, { operation: paid.operation });
  refuseIssues([...validateRequest(paid), ...fields], paid);
}

/** @throws CliError if there are issues, with each option and where to find its allowed values */
export function refuseIssues(issues: readonly ValidationIssue[], { operation, request }: PaidRequest): void {
  if (issues.length === 0) return;
  const aboutModel = issues.some(({ field }) => field === 'model');
  const command = { create_video: 'video', generate_image: 'image', edit_image: 'edit' }[operation];
  const models = aboutModel
    ? '`temporal-media models` lists the models'
    : `\`temporal-media models show ${shellWord(request.model)}\` shows what the model accepts`;
  const hint = `Nothing was sent. ${models}, and \`temporal-media ${command} --help\` explains the options.`;
  throw badInput(issues.map(byOption), hint);
}

/** The option for each request field. */
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
 * Rephrases a domain issue for the command line: `--duration (durationSeconds) must be …`. The message keeps the
 * request field, because scripts search for it.
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
