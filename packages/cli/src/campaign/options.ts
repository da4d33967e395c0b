import { type Command } from 'commander';
import { type Money, type DurationInput } from 'temporal-media';
import { DEFAULT_CONCURRENCY, DEFAULT_MAX_ATTEMPTS } from 'temporal-media/internal/domain/campaign/plan';
import { given } from 'temporal-media/internal/domain/json';
import { type Amount, readAmount } from 'temporal-media/internal/domain/money';
import { type CommonOptions } from '../shared/context';
import { badInput } from '../shared/errors';
import { type LabelOptions, waitForOf } from '../shared/paid-options';

/** Options for `campaign run`. */
export interface RunOptions extends CommonOptions, ConsentOptions, PromptOptions, LabelOptions {
  readonly id?: string;
  readonly out?: string;
  readonly format?: 'csv' | 'jsonl';
  readonly concurrency?: string;
  readonly budget?: string;
  readonly dryRun?: boolean;
  readonly detach?: boolean;
  readonly onInvalid?: 'fail' | 'skip';
  readonly limit?: string;
  readonly sample?: string;
  readonly rebuyChanged?: boolean;
  readonly waitFor?: string;
  readonly maxAttempts?: string;
  readonly account?: string;
}

/** Options for a run that reads one prompt per line from a file. */
export interface PromptOptions {
  readonly prompts?: string;
  readonly model?: string;
  readonly duration?: string;
  readonly resolution?: string;
  readonly aspectRatio?: string;
  readonly size?: string;
  readonly quality?: string;
  readonly n?: string;
  readonly field?: readonly string[];
}

/** Options that limit how much a start may spend. */
export interface ConsentOptions {
  readonly maxSpend?: string;
  readonly yes?: boolean;
}

/** Options for commands that resume rows. */
export interface ResumeRowsCommandOptions extends CommonOptions, ConsentOptions {
  readonly out?: string;
  readonly concurrency?: string;
  readonly budget?: string;
  readonly waitFor?: string;
  readonly maxAttempts?: string;
  readonly detach?: boolean;
  readonly outcome?: readonly string[];
}

export function withConsentOptions(command: Command): Command {
  return command
    .option(
      '--max-spend <amount>',
      'require confirmation for a start that may cost more: 50, 50USD (default: MEDIA_MAX_SPEND)',
    )
    .option('-y, --yes', 'accept a cost that is above --max-spend or unknown');
}

/** Defaults for a new run. A resumed campaign keeps its earlier values. */
const RUN_DEFAULTS = {
  concurrency: String(DEFAULT_CONCURRENCY),
  waitFor: '1h',
  maxAttempts: String(DEFAULT_MAX_ATTEMPTS),
};
const AS_BEFORE = 'previous value';
const KEPT = { concurrency: AS_BEFORE, waitFor: AS_BEFORE, maxAttempts: AS_BEFORE };

/**
 * Adds the options of `run`, `resume` and `retry`. @param goesOn true for `resume` and `retry`, which keep the previous
 * run's values
 */
export function withRunOptions(command: Command, { goesOn = false } = {}): Command {
  const { concurrency, waitFor, maxAttempts } = goesOn ? KEPT : RUN_DEFAULTS;
  return command
    .option('--out <dir>', 'write a report to this folder: results.jsonl, results.csv, media and a gallery')
    .option('--concurrency <number>', `maximum videos in flight (default: ${concurrency})`)
    .option('--budget <amount>', 'maximum spend; creates stop when it is reached: 200, 200USD')
    .option('--wait-for <duration>', `how long to wait for each video: 90s, 15m, 2h (default: ${waitFor})`)
    .option(
      '--max-attempts <number>',
      `maximum attempts for a row that fails for lack of capacity; each may be charged (default: ${maxAttempts})`,
    )
    .option('--detach', 'print the id and return as soon as the campaign has started');
}

/** @throws CliError unless the text is a whole number of at least 1 */
export function countOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = /^\d{1,9}$/.test(text.trim()) ? Number(text) : 0;
  if (number >= 1) return number;
  throw badInput([{ field: option, message: 'must be a whole number of at least 1.' }]);
}

/** @throws CliError for an invalid amount */
export function amountOf(option: string, text: string | undefined): Amount | undefined {
  if (text === undefined) return undefined;
  const amount = readAmount(text);
  if (amount !== undefined) return amount;
  const message =
    'must be a decimal amount with at most six decimal places, such as 200, 200USD or "19.50 EUR".';
  throw badInput([{ field: option, message }]);
}

/**
 * Returns the amount in its own currency or, if it has none, in the currency of the prices. @throws CliError when
 * neither is known
 */
export function moneyOption(
  option: string,
  amount: Amount | undefined,
  currency: string | null | undefined,
): Money | undefined {
  if (amount === undefined) return undefined;
  const known = amount.currency ?? currency;
  if (known != null) return { microUnits: amount.microUnits, currency: known };
  throw badInput([
    {
      field: option,
      message: 'must include a currency, such as 200USD: the known prices do not determine it.',
    },
  ]);
}

/** Reads the settings that new and resumed runs share. */
export function changesOf(options: ResumeRowsCommandOptions): {
  readonly concurrency?: number;
  readonly waitFor?: DurationInput;
  readonly maxAttempts?: number;
} {
  const concurrency = countOf('--concurrency', options.concurrency);
  const waitFor = waitForOf(options.waitFor);
  const maxAttempts = countOf('--max-attempts', options.maxAttempts);
  return {
    ...given({ concurrency, waitFor, maxAttempts }),
  };
}
