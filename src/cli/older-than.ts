import { badInput } from './errors';
import { durationOf } from './paid-options';

export const OLDER_THAN = '--older-than';

/** The value of `--older-than`, in milliseconds. @throws CliError */
export function olderThanOf(text: string): number {
  const ms = durationOf(text);
  if (ms !== undefined) return ms;
  throw badInput([{ field: OLDER_THAN, message: 'must be a duration with its unit, such as 90d.' }]);
}
