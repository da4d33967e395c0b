import { createInterface } from 'node:readline/promises';
import { type Money } from 'temporal-media';
import { type Amount, formatMoney, readAmount } from 'temporal-media/internal/domain/money';
import { visible } from 'temporal-media/internal/domain/terminal-text';
import { ConfigurationError } from 'temporal-media/internal/settings/config';
import { type LostCalls } from 'temporal-media/worker';
import { badInput, CliError } from './errors';
import { type Report } from './report';

export const MAX_SPEND_VARIABLE = 'MEDIA_MAX_SPEND';

const FORM = 'must be a decimal amount with at most six decimal places, such as 0.50, 0.50USD or "0.50 EUR".';

/** Reads `--max-spend` or, without it, MEDIA_MAX_SPEND. @throws CliError, ConfigurationError */
export function spendLimitOf(option: string | undefined, env: NodeJS.ProcessEnv): Amount | undefined {
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

interface SpendQuestion {
  /**
   * The maximum cost that does not require a confirmation. If it has no currency, the price rule's currency applies.
   */
  readonly limit: Amount;
  /** Null means unknown, which also requires confirmation. */
  readonly estimate: Money | null;
  /** Whether the estimate is the maximum cost including retries. @default false */
  readonly upTo?: boolean;
  /** One sentence about what may already have been charged for the same rows. */
  readonly before?: string;
  /** One sentence that explains why the estimate is unknown. */
  readonly unknownBecause?: string;
}

/** Returns the reason a call needs confirmation, or undefined if it does not. */
export function whyNot({
  limit,
  estimate,
  upTo = false,
  before = '',
  unknownBecause = '',
}: SpendQuestion): string | undefined {
  const most = formatMoney(limit);
  const because = (...sentences: string[]) => sentences.filter((one) => one !== '').join(' ');
  if (estimate === null)
    return because(`The cost is unknown, and the limit is ${most}.`, unknownBecause, before);
  const cost = formatMoney(estimate);
  const what = upTo ? 'The maximum cost with retries' : 'The estimate';
  if (limit.currency !== null && limit.currency !== estimate.currency)
    return because(`${what} is ${cost}, but the limit of ${most} is in another currency.`, before);
  if (estimate.microUnits > limit.microUnits)
    return because(`${what} is ${cost}, above the limit of ${most}.`, before);
  return undefined;
}

/**
 * Does nothing if the estimate is within the limit. Otherwise, requests confirmation at the terminal, or fails if there
 * is no terminal. @throws CliError `spend_not_confirmed`, before anything was started
 */
export async function confirmSpend(
  report: Report,
  question: SpendQuestion,
  terminal: Terminal = TERMINAL,
): Promise<void> {
  const { limit, estimate, upTo = false, unknownBecause } = question;
  const reason = whyNot(question);
  const cost =
    estimate === null
      ? 'The cost is unknown'
      : `This ${upTo ? 'may cost, including retries, up to' : 'will cost an estimated'} ${formatMoney(estimate)}`;
  if (reason === undefined) {
    report.say(`${cost} (limit ${formatMoney(limit)}).`);
    return;
  }
  if (!report.machine && isTerminal(terminal)) {
    if (unknownBecause !== undefined) report.say(unknownBecause);
    if (await askTerminal(`${cost} (limit ${formatMoney(limit)}). Send it?`, terminal)) return;
  }
  throw new CliError('spend_not_confirmed', `${reason} Nothing was sent.`, { data: { estimate, limit } });
}

export interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

/** Stdin and stderr, because stdout is for results. */
export const TERMINAL: Terminal = { input: process.stdin, output: process.stderr };

export function isTerminal({ input, output }: Terminal): boolean {
  return input.isTTY === true && output.isTTY === true;
}

/** Asks a yes-or-no question. Only `y` and `yes` mean yes. Ctrl-C, Ctrl-D and an empty line mean no. */
export async function askTerminal(question: string, { input, output }: Terminal): Promise<boolean> {
  const lines = createInterface({ input, output, terminal: true });
  const closed = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
  // Without a listener, Ctrl-C would only pause the input, and the command would hang.
  lines.once('SIGINT', () => lines.close());
  try {
    const answer = await Promise.race([lines.question(`${visible(question)} [y/N] `), closed]);
    if (answer === undefined) output.write('\n');
    return /^y(es)?$/i.test((answer ?? '').trim());
  } finally {
    lines.close();
  }
}

/** Maximum number of ids to print in a line. JSON output contains all of them. */
const NAMED = 20;

/** Prints what a rebind would lose and requires confirmation. @throws CliError `rebind_not_confirmed` */
export async function confirmRebind(
  report: Report,
  taskQueue: string,
  lost: LostCalls,
  yes: boolean,
): Promise<void> {
  for (const line of rebindLines(taskQueue, lost)) report.say(line);
  if (yes) return;
  const question = `Bind task queue ${taskQueue} to this journal?`;
  if (!report.machine && isTerminal(TERMINAL) && (await askTerminal(question, TERMINAL))) return;
  throw new CliError('rebind_not_confirmed', `The rebind of task queue ${taskQueue} was not confirmed.`, {
    data: { taskQueue, found: keysOf(lost, true), unconfirmed: keysOf(lost, false) },
  });
}

/** Describes what happens to calls that this journal does not contain. */
export function rebindLines(taskQueue: string, lost: LostCalls): string[] {
  const [found, unknown] = [keysOf(lost, true), keysOf(lost, false)];
  return [
    `Rebinding ${taskQueue} permanently gives up the information in the previous journal.`,
    ...(found.length + unknown.length === 0
      ? [`- This journal contains all paid calls of the newest ${lost.looked} executions.`]
      : []),
    ...(found.length > 0
      ? [
          `- Videos missing from this journal, which are found again when started under their ids: ${namesOf(found)}`,
        ]
      : []),
    ...(unknown.length > 0
      ? [
          `- Unconfirmed calls, whose ids send nothing until a person decides (temporal-media unconfirmed): ${namesOf(unknown)}`,
        ]
      : []),
    '- Creates in progress end with outcome unconfirmed (journal_changed) and also need a decision.',
    `- Ids beyond the newest ${lost.looked} executions, or whose histories the server has removed, will be bought again if they are restarted.`,
    'Make sure that no worker still uses the previous journal.',
  ];
}

function keysOf({ calls }: LostCalls, created: boolean): string[] {
  const keys = calls.filter((call) => (call.created !== undefined) === created);
  return [...new Set(keys.map(({ creationKey }) => creationKey))];
}

function namesOf(keys: readonly string[]): string {
  const more = keys.length - NAMED;
  return `${keys.slice(0, NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
