import { given } from 'temporal-media/internal/domain/json';
import { readAmount } from 'temporal-media/internal/domain/money';
import { type CommonOptions } from '../shared/context';
import { badInput, type CliError } from '../shared/errors';
import { userName } from '../unconfirmed/run';
import { checkWords } from './calls';
import { type DecimalMark, readInvoiceAmount } from './check-amounts';
import { COLUMN_KINDS, type ColumnNames } from './check-columns';
import { type CheckRequest } from './check-invoice';
import { type CheckScope } from './check-judge';

/** Options of `money check`, as they are passed. */
export interface CheckOptions extends CommonOptions {
  readonly taskColumn?: string;
  readonly keyColumn?: string;
  readonly amountColumn?: string;
  readonly currencyColumn?: string;
  readonly timeColumn?: string;
  readonly modelColumn?: string;
  readonly statusColumn?: string;
  readonly currency?: string;
  readonly decimal?: DecimalMark;
  readonly total?: string;
  readonly account?: string;
  readonly since?: string;
  readonly until?: string;
  readonly tolerance: string;
  readonly reference?: string;
  readonly corrects?: string;
  readonly missingAreFree?: boolean;
  readonly results?: readonly string[];
  readonly apply?: boolean;
  readonly by?: string;
  readonly limit: string;
  readonly out?: string;
}

/** Options that the other commands have too, after they were checked. */
type Shared = Pick<CheckRequest, 'period' | 'limit'>;

const NOT_WRITTEN = 'Nothing was written. `temporal-media money check --help` shows examples.';

/** Checks the options. @throws CliError for an option with an invalid value */
export function checkRequest(file: string, options: CheckOptions, shared: Shared): CheckRequest {
  const { account, reference, corrects, out, decimal, by = userName() } = options;
  checkWords({ '--reference': reference, '--corrects': corrects, '--by': by }, NOT_WRITTEN);
  if (reference !== undefined && reference === corrects)
    throw issue('--corrects', 'must be the reference of the earlier bills, not of this file.');
  const currency = options.currency?.toUpperCase();
  if (currency !== undefined && !/^[A-Z]{3}$/.test(currency))
    throw issue('--currency', 'must be a code such as USD.');
  return {
    file,
    format: {
      columns: columnsOf(options),
      ...given({ decimal, currency, total: totalOf(options.total, decimal) }),
    },
    ...{ account, reference, corrects, out, by, ...shared },
    tolerance: toleranceOf(options.tolerance),
    missingAreFree: options.missingAreFree === true,
    results: options.results ?? [],
    apply: options.apply === true,
  };
}

const issue = (field: string, message: string): CliError => badInput([{ field, message }], NOT_WRITTEN);

function columnsOf(options: CheckOptions): ColumnNames {
  return Object.fromEntries(
    COLUMN_KINDS.flatMap((kind) => {
      const name = options[`${kind}Column`]?.trim();
      return name === undefined ? [] : [[kind, name] as const];
    }),
  );
}

function totalOf(
  text: string | undefined,
  decimal: DecimalMark | undefined,
): CheckRequest['format']['total'] {
  if (text === undefined) return undefined;
  const read = readInvoiceAmount(text, decimal);
  if ('problem' in read) throw issue('--total', 'must be an amount such as 1234.56.');
  return read;
}

function toleranceOf(text: string): CheckScope['tolerance'] {
  const percent = /^(\d{1,3}(?:\.\d{1,4})?)%$/.exec(text)?.[1];
  if (percent !== undefined) return { microUnits: 0, share: Number(percent) / 100 };
  const amount = readAmount(text);
  if (amount !== undefined) return { microUnits: amount.microUnits, share: 0 };
  throw issue('--tolerance', 'must be an amount such as 0.01, or a percentage such as 2%.');
}
