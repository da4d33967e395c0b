import { type ActiveRow } from '../../domain/campaign/messages';
import { endedRows, type MoneyTotals, type RowCounts } from '../../domain/campaign/results';
import { ROW_OUTCOMES } from '../../domain/campaign/row';
import { type CampaignState } from '../../domain/campaign/state';
import { formatMoney } from '../../domain/price';

/** `12 completed, 3 failed`, in the order of the outcomes; `no row has ended yet` without any. */
export function countsText(counts: RowCounts): string {
  const parts = ROW_OUTCOMES.filter((outcome) => (counts[outcome] ?? 0) > 0).map(
    (outcome) => `${counts[outcome] ?? 0} ${outcome.replaceAll('_', ' ')}`,
  );
  return parts.length === 0 ? 'no row has ended yet' : parts.join(', ');
}

/** `settled 1.20 USD, reserved 0.40 USD, 2 attempts without a price`: a part that is 0 is left out. */
export function moneyText(money: MoneyTotals, currency: string | null): string {
  const parts = (
    [
      ['settled', money.settled],
      ['reserved', money.reserved],
      ['needs review', money.needsReview],
    ] as const
  )
    .filter(([, microUnits]) => microUnits !== 0)
    .map(([word, microUnits]) => `${word} ${amountText(microUnits, currency)}`);
  if (money.unknown > 0)
    parts.push(`${money.unknown} attempt${money.unknown === 1 ? '' : 's'} without a known price`);
  return parts.length === 0 ? 'no cost of ended rows' : parts.join(', ');
}

export function amountText(microUnits: number, currency: string | null): string {
  const sign = microUnits < 0 ? '-' : '';
  return `${sign}${formatMoney({ microUnits: Math.abs(microUnits), currency: currency ?? '' }).trim()}`;
}

/** `1.50 USD of 20.00 USD free, 18.50 USD spent or reserved`: what rows under way may cost is reserved. */
export function budgetText({ total, taken, left }: NonNullable<CampaignState['budget']>): string {
  const used = amountText(taken, total.currency);
  return `${amountText(left, total.currency)} of ${formatMoney(total)} free, ${used} spent or reserved`;
}

/** How many rows there are and how many are done: one that is taken up again still counts with its earlier outcome. */
export function rowsOf({ counts, remaining, plan }: Pick<CampaignState, 'counts' | 'remaining' | 'plan'>): {
  readonly done: number;
  readonly all: number;
} {
  const counted = endedRows(counts) + remaining;
  const all = plan === null ? counted : Math.min(counted, plan.rows);
  return { done: Math.max(0, all - remaining), all };
}

/** One line of how a campaign stands, for a stream without a terminal. */
export function progressLine(state: CampaignState): string {
  if (state.phase === 'planning') return 'reading the manifest';
  const { done, all } = rowsOf(state);
  const parts = [
    `${done}/${all} rows: ${countsText(state.counts)}`,
    `${state.inFlight} in flight`,
    moneyText(state.money, state.currency),
  ];
  if (state.rowsPerMinute !== null) parts.push(`${state.rowsPerMinute}/min`);
  if (state.etaAt !== null) parts.push(`ends about ${state.etaAt}`);
  if (state.phase !== 'running') parts.push(state.phase);
  return parts.join('; ');
}

/** One row that is under way: its key, what happens to it, and since when. */
export function activeText({ key, phase, status, progress, since }: ActiveRow, now: number): string {
  const word = phase === 'watching' ? (status ?? 'watching') : phase;
  const share = progress === undefined ? '' : ` ${progress} %`;
  const seconds = Math.max(0, Math.round((now - Date.parse(since)) / 1_000));
  return `${plainKey(key)}  ${word}${share}  ${seconds} s`;
}

/** Keys are chosen by others: none moves the cursor of a terminal. */
export function plainKey(key: string): string {
  // eslint-disable-next-line no-control-regex
  return key.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, '?');
}
