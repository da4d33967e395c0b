import { ConfigurationError } from 'temporal-media/internal/config';
import { formatMoney, readAmount } from 'temporal-media/internal/domain/price';
import { badInput } from '../errors';

/** The most that a call may cost without an agreement; without a currency, in that of the price rule. */
export interface MaxSpend {
  readonly microUnits: number;
  readonly currency: string | null;
}

export const MAX_SPEND_VARIABLE = 'MEDIA_MAX_SPEND';

const FORM = 'must be a decimal amount with at most six decimals, such as 0.50, 0.50USD or "0.50 EUR".';

/** `--max-spend`, else MEDIA_MAX_SPEND. @throws CliError, ConfigurationError */
export function spendLimitOf(option: string | undefined, env: NodeJS.ProcessEnv): MaxSpend | undefined {
  if (option !== undefined) {
    const limit = readAmount(option);
    if (limit === undefined) throw badInput([{ field: '--max-spend', message: FORM }]);
    return limit;
  }
  const variable = env[MAX_SPEND_VARIABLE]?.trim();
  if (variable === undefined || variable === '') return undefined;
  const limit = readAmount(variable);
  if (limit === undefined) throw new ConfigurationError(MAX_SPEND_VARIABLE, FORM);
  return limit;
}

export function limitText({ microUnits, currency }: MaxSpend): string {
  return formatMoney({ microUnits, currency: currency ?? '' }).trim();
}
