import { validateRawFields, validateRequest } from 'temporal-media/internal/domain/validate-request';
import { type PaidRequest, type ValidationIssue } from 'temporal-media';
import { badInput } from './errors';
import { byOption } from './context';
import { shellWord } from './text';

/** Validates all that needs no live model configuration, before anything starts. @throws CliError */
export function refuseInvalidCall(paid: PaidRequest): void {
  const fields = validateRawFields(paid.request.fields, { operation: paid.operation });
  refuseIssues([...validateRequest(paid), ...fields], paid);
}

/** @throws CliError when there is an issue: names each option, and where to find its allowed values */
export function refuseIssues(issues: readonly ValidationIssue[], { operation, request }: PaidRequest): void {
  if (issues.length === 0) return;
  const aboutModel = issues.some(({ field }) => field === 'model');
  const command = { create_video: 'video', generate_image: 'image', edit_image: 'edit' }[operation];
  const models = aboutModel
    ? '`temporal-media models` lists the models'
    : `\`temporal-media models show ${shellWord(request.model)}\` shows what the model takes`;
  const hint = `Nothing was sent. ${models}; \`temporal-media ${command} --help\` explains the options.`;
  throw badInput(issues.map(byOption), hint);
}
