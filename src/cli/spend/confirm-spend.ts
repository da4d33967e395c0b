import { type Money } from '../../domain/billing';
import { formatMoney } from '../../domain/price';
import { CliError } from '../cli-error';
import { type Report } from '../report';
import { askTerminal, isTerminal, type Terminal, TERMINAL } from './ask-terminal';
import { limitText, type SpendLimit } from './spend-limit';

export interface SpendQuestion {
  readonly limit: SpendLimit;
  /** Null is unknown and needs an agreement as well (C1.5). */
  readonly estimate: Money | null;
  /** That the estimate is the most that it may cost with retries. @default false */
  readonly upTo?: boolean;
  /** What may have been paid for the same before; one sentence. */
  readonly before?: string;
  /** Why it is unknown, for a person; one sentence. */
  readonly unknownBecause?: string;
}

/** Why a call may not be sent without asking anybody; undefined when it may. */
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
 * Lets a call pass whose estimate is within the limit; asks a person at a terminal about any other. Everywhere else it
 * fails closed. @throws CliError `spend_not_confirmed`; nothing was started
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
