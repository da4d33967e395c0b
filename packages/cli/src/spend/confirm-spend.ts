import { createInterface } from 'node:readline/promises';
import { visible } from 'temporal-media/internal/domain/visible';
import { type Money } from 'temporal-media';
import { formatMoney } from 'temporal-media/internal/domain/price';
import { CliError } from '../errors';
import { type Report } from '../report';
import { limitText, type MaxSpend } from './spend-limit';

interface SpendQuestion {
  readonly limit: MaxSpend;
  /** Null is unknown and needs an agreement as well (C1.5). */
  readonly estimate: Money | null;
  /** Whether the estimate is the most that it may cost with retries. @default false */
  readonly upTo?: boolean;
  /** What may have been paid for the same before; one sentence. */
  readonly before?: string;
  /** Why it is unknown, for a person; one sentence. */
  readonly unknownBecause?: string;
}

/** Why a call needs an agreement; undefined when it needs none. */
export function whyNot({
  limit,
  estimate,
  upTo = false,
  before = '',
  unknownBecause = '',
}: SpendQuestion): string | undefined {
  const most = limitText(limit);
  const because = (...sentences: string[]) => sentences.filter((one) => one !== '').join(' ');
  if (estimate === null)
    return because(`The estimate is unknown; the limit is ${most}.`, unknownBecause, before);
  const cost = formatMoney(estimate);
  const what = upTo ? 'The most that it may cost with retries' : 'The estimate';
  if (limit.currency !== null && limit.currency !== estimate.currency)
    return because(`${what} is ${cost}; the limit of ${most} is in another currency.`, before);
  if (estimate.microUnits > limit.microUnits)
    return because(`${what} is ${cost}, above the limit of ${most}.`, before);
  return undefined;
}

/**
 * Returns for an estimate within the limit; asks a person at a terminal about any other. Without a terminal it fails
 * closed. @throws CliError `spend_not_confirmed`; nothing was started
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
      ? 'The cost of this is unknown'
      : `This ${upTo ? 'may cost, with retries, up to' : 'costs an estimated'} ${formatMoney(estimate)}`;
  if (reason === undefined) {
    report.say(`${cost} (limit ${limitText(limit)}).`);
    return;
  }
  if (!report.machine && isTerminal(terminal)) {
    if (unknownBecause !== undefined) report.say(unknownBecause);
    if (await askTerminal(`${cost} (limit ${limitText(limit)}). Send it?`, terminal)) return;
  }
  throw new CliError('spend_not_confirmed', `${reason} Nothing was sent.`, { data: { estimate, limit } });
}

export interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

/** Stdin and stderr: stdout is for results. */
export const TERMINAL: Terminal = { input: process.stdin, output: process.stderr };

export function isTerminal({ input, output }: Terminal): boolean {
  return input.isTTY === true && output.isTTY === true;
}

/** Asks a person; only `y` and `yes` agree. Ctrl-C, Ctrl-D and an empty line do not. */
export async function askTerminal(question: string, { input, output }: Terminal): Promise<boolean> {
  const lines = createInterface({ input, output, terminal: true });
  const closed = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
  // Without a listener Ctrl-C would only pause the input, and the command would hang.
  lines.once('SIGINT', () => lines.close());
  try {
    const answer = await Promise.race([lines.question(`${visible(question)} [y/N] `), closed]);
    if (answer === undefined) output.write('\n');
    return /^y(es)?$/i.test((answer ?? '').trim());
  } finally {
    lines.close();
  }
}
