import { validateRawFields } from '../domain/raw-fields';
import { type PaidRequest } from '../domain/request';
import { validateRequest } from '../domain/validate-request';
import { badInput } from './cli-error';

/** Everything that can be judged without the live model configuration, before anything starts. @throws CliError */
export function refuseInvalid(paid: PaidRequest): void {
  const fields = validateRawFields(paid.request.fields, { operation: paid.operation });
  const issues = [...validateRequest(paid), ...fields];
  if (issues.length > 0) throw badInput(issues);
}
