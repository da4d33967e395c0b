import { csvCell } from '@temporal-media/report/internal/tables';
import { stringify } from 'csv-stringify/sync';
import { campaignOfBatch } from 'temporal-media/internal/domain/campaign/budget-book';
import {
  billedFor,
  costOf,
  estimateOfSend,
  mayBeOwed,
  purchaseOf,
} from 'temporal-media/internal/domain/log-entries';
import { formatMoney } from 'temporal-media/internal/domain/money';
import { visibleJson } from 'temporal-media/internal/domain/terminal-text';
import { type CommandContext } from '../shared/context';
import { textTable } from '../shared/progress-view';
import { callsIn, fateOf, type Period, type Place, reviewReason, type SentCall } from './calls';

/** What calls can be grouped by. Days and months are those of the send, in UTC; `label:NAME` is a label's value. */
export type Dimension =
  | 'day'
  | 'month'
  | 'account'
  | 'model'
  | 'campaign'
  | 'operation'
  | 'outcome'
  | `label:${string}`;

/** How totals are printed without `-o`. */
export type TotalsFormat = 'table' | 'csv' | 'json';

/** Totals of one group in one currency. Money is in micro-units of it. */
export interface CostTotals {
  /** Value of each dimension; empty for the totals of everything. Empty for a call without one. */
  readonly group: { readonly [dimension in Dimension]?: string };
  /** ISO 4217 code; null for sends without estimate and bill. */
  readonly currency: string | null;
  /** Creation keys. */
  readonly calls: number;
  readonly sends: number;
  /** Sends that were certainly bought. */
  readonly accepted: number;
  /** Sends that have a bill. */
  readonly billed: number;
  /** Sends that may be owed and have neither estimate nor bill. Their cost is unknown. */
  readonly unpriced: number;
  readonly underReview: number;
  /** Estimates of all sends that may be owed or have a bill. */
  readonly estimate: number;
  /** Bills alone. */
  readonly actual: number;
  /** Bills, and estimates where there is none. */
  readonly cost: number;
}

type Totals = { -readonly [field in keyof CostTotals]: CostTotals[field] };

interface Wanted {
  readonly period: Period;
  readonly by: readonly Dimension[];
  readonly format: TotalsFormat;
}

/** Adds up all calls of a period. Memory grows with the groups, not with the calls. */
export async function reportMoney(
  { report }: CommandContext,
  place: Place,
  { period, by, format }: Wanted,
): Promise<void> {
  const groups = new Map<string, Totals>();
  const everything = new Map<string, Totals>();
  const now = Date.now();
  for await (const calls of callsIn(place, period)) {
    // A call counts once in each group that one of its sends is in.
    const touched = new Set<Totals>();
    for (const call of calls) {
      for (const [totals, dimensions] of [
        [groups, by],
        [everything, []],
      ] as const) {
        const one = totalsOf(totals, call, dimensions, now);
        if (!touched.has(one)) one.calls += 1;
        touched.add(one);
        add(one, call, now);
      }
    }
  }
  const rows = inOrder(groups);
  const totals = inOrder(everything);
  const data = { by, rows, totals };
  if (format === 'json') report.result(visibleJson(data));
  else if (format === 'csv') for (const line of csvLines(by, rows)) report.result(line);
  else
    for (const line of textTable(cellsOf(by, by.length === 0 ? rows : [...rows, ...totals])))
      report.result(line);
  report.reply({ ok: true, data });
}

function totalsOf(
  totals: Map<string, Totals>,
  call: SentCall,
  by: readonly Dimension[],
  now: number,
): Totals {
  const group = Object.fromEntries(by.map((dimension) => [dimension, valueOf(dimension, call, now)]));
  const currency = costOf(call.send)?.currency ?? null;
  const id = JSON.stringify([...Object.values(group), currency]);
  const found = totals.get(id) ?? { group, currency, ...NOTHING };
  totals.set(id, found);
  return found;
}

const NOTHING = {
  ...{ calls: 0, sends: 0, accepted: 0, billed: 0, unpriced: 0, underReview: 0 },
  ...{ estimate: 0, actual: 0, cost: 0 },
};

function valueOf(dimension: Dimension, call: SentCall, now: number): string {
  const { sent } = call.send;
  switch (dimension) {
    case 'day':
      return sent.at.slice(0, 10);
    case 'month':
      return sent.at.slice(0, 7);
    case 'campaign':
      return sent.kind === 'intent' && sent.payer !== undefined ? campaignOfBatch(sent.payer) : '';
    case 'outcome':
      return fateOf(call, now);
    case 'account':
    case 'model':
    case 'operation':
      return sent[dimension];
    default: {
      const name = dimension.slice('label:'.length);
      const labels = (sent.kind === 'intent' ? sent.labels : undefined) ?? {};
      return Object.hasOwn(labels, name) ? (labels[name] as string) : '';
    }
  }
}

function add(totals: Totals, call: SentCall, now: number): void {
  const { send } = call;
  const [bill, cost, estimate] = [billedFor(send), costOf(send), estimateOfSend(send)];
  const isOwed = mayBeOwed(send) || bill !== null;
  totals.sends += 1;
  if (purchaseOf(send) !== undefined) totals.accepted += 1;
  if (bill !== null) totals.billed += 1;
  if (reviewReason(call, now) !== null) totals.underReview += 1;
  if (!isOwed) return;
  if (cost === null) totals.unpriced += 1;
  totals.cost += cost?.microUnits ?? 0;
  totals.actual += bill?.microUnits ?? 0;
  if (estimate?.currency === totals.currency) totals.estimate += estimate?.microUnits ?? 0;
}

function inOrder(groups: ReadonlyMap<string, Totals>): readonly CostTotals[] {
  const order = (one: string, other: string): number => (one < other ? -1 : 1);
  return [...groups].sort(([one], [other]) => order(one, other)).map(([, totals]) => totals);
}

const COUNTS = ['calls', 'sends', 'accepted', 'billed', 'unpriced', 'underReview'] as const;
const AMOUNTS = ['estimate', 'actual', 'cost'] as const;
const NAMES = [...COUNTS.map((name) => name.replace('R', '_r')), 'currency', ...AMOUNTS];

/** Amounts are in units of the currency. */
function numbersOf(totals: CostTotals): readonly string[] {
  return [
    ...COUNTS.map((name) => String(totals[name])),
    totals.currency ?? '',
    ...AMOUNTS.map((name) => formatMoney({ microUnits: totals[name], currency: null })),
  ];
}

function cellsOf(by: readonly Dimension[], rows: readonly CostTotals[]): readonly (readonly string[])[] {
  const head = [...by, ...NAMES].map((name) => name.toUpperCase());
  return [
    head,
    ...rows.map((totals) => {
      const isSum = Object.keys(totals.group).length < by.length;
      const group = by.map((dimension, at) => (isSum && at === 0 ? 'total' : totals.group[dimension] || '-'));
      return [...group, ...numbersOf(totals)];
    }),
  ];
}

/** Text cells are escaped so that they cannot be formulas; numbers need no escape. */
function csvLines(by: readonly Dimension[], rows: readonly CostTotals[]): readonly string[] {
  const lines = rows.map((totals) => [
    ...by.map((dimension) => csvCell(totals.group[dimension] ?? '')),
    ...numbersOf(totals),
  ]);
  return [[...by, ...NAMES], ...lines].map((cells) => stringify([cells]).trimEnd());
}
