import { type MoneyTotals, type RowCounts } from 'temporal-media';
import { ROW_OUTCOMES, sumOf as sumOfMoney } from 'temporal-media/internal/domain/campaign/results';
import {
  failureKind,
  needingPerson,
  type OutcomeTone as Tone,
  outcomeWords,
  worstTone,
} from 'temporal-media/internal/domain/campaign/row';
import { moneyOfAttempts } from 'temporal-media/internal/domain/campaign/row-result';
import { formatMoney, labelTexts } from 'temporal-media/internal/domain/money';
import { ASSETS, renderCard, renderIndex, renderPage } from './gallery-templates';
import { inOrder, PAGE_CARDS, pageNumber, type PageRows, type ReportRow } from './page-rows';
import { type PlannedRows } from './read-results';
import { type ReportFolder } from './report-folder';
import { type ReportFacts } from './report-options';
import { addGroups, type GroupMoney, type PageFacts, type RowGroups } from './report-state';
import { moneyText, rowCard, spanText, timeText } from './row-card';

export interface GalleryPageOptions {
  readonly folder: ReportFolder;
  readonly planned: PlannedRows;
  readonly campaign: string;
  readonly currency: string | null;
}

/** Returns a file name without its extension: `page-0001`, or `page-0001-2` for a second part. */
function partName(page: number, part: number): string {
  return `page-${pageNumber(page)}${part === 0 ? '' : `-${part + 1}`}`;
}

/**
 * Writes a page's HTML and its filter data. Does not rewrite unchanged files.
 * @returns how many of the page's parts changed
 */
export async function writeGalleryPage(
  options: GalleryPageOptions,
  page: number,
  rows: PageRows,
  before: PageFacts | undefined,
): Promise<{ readonly facts: PageFacts; readonly written: number }> {
  const ordered = inOrder(rows);
  const parts = Array.from({ length: Math.ceil(ordered.length / PAGE_CARDS) }, (_, part) =>
    ordered.slice(part * PAGE_CARDS, (part + 1) * PAGE_CARDS),
  );
  let written = 0;
  let unplanned = 0;
  for (const [part, ofPart] of parts.entries()) {
    const made = await writePart(options, page, part, ofPart);
    if (made.isNew) written += 1;
    unplanned += made.unplanned;
  }
  for (let part = parts.length; part < (before?.parts.length ?? 0); part += 1) {
    await options.folder.remove(`${partName(page, part)}.html`);
    await options.folder.remove(`data/${partName(page, part)}.js`);
    written += 1;
  }
  return { facts: pageFacts(ordered, parts, unplanned), written };
}

async function writePart(
  { folder, planned, campaign, currency }: GalleryPageOptions,
  page: number,
  part: number,
  rows: readonly ReportRow[],
): Promise<{ readonly isNew: boolean; readonly unplanned: number }> {
  const name = partName(page, part);
  let unplanned = 0;
  const cards: [outcome: string, kind: string, model: string, card: string][] = [];
  for (const [index, row] of rows.entries()) {
    const id = `c${page + 1}-${part * PAGE_CARDS + index + 1}`;
    const plannedRow = await planned.find(row.result);
    if (plannedRow === undefined) unplanned += 1;
    const card = renderCard(rowCard(row, plannedRow, id, { campaign, currency }));
    cards.push([row.result.outcome, failureKind(row.result) ?? '', row.result.model, card]);
  }
  const html = renderPage({
    name,
    campaign,
    number: name.slice('page-'.length).replace(/^0+/, ''),
    cards: cards.map(([, , , card]) => `${card}\n`).join(''),
  });
  const isNew = await folder.write(`${name}.html`, html);
  const isNewData = await folder.write(
    `data/${name}.js`,
    `galleryPage(${scriptJson(name)},${scriptJson(cards)});\n`,
  );
  return { isNew: isNew || isNewData, unplanned };
}

/** Returns JSON that is valid in every JavaScript version and safe inside an HTML page. */
function scriptJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function pageFacts(
  rows: readonly ReportRow[],
  parts: readonly (readonly ReportRow[])[],
  unplanned: number,
): PageFacts {
  const missing = rows.flatMap(({ files }) => files ?? []).filter((file) => file === null).length;
  const shown = shownLabels(rows);
  const groups = addGroups(
    rows.flatMap(({ result: { startedAt, finishedAt, ledger, labels = {} } }) => {
      const money = { rows: 1, ...moneyOfAttempts(ledger) };
      const own = Object.fromEntries(Object.entries(labels).filter(([name]) => shown.has(name)));
      return [
        { by: 'day' as const, group: (startedAt ?? finishedAt).slice(0, 10), ...money },
        ...labelTexts(own).map((group) => ({ by: 'label' as const, group, ...money })),
      ];
    }),
  );
  return { rows: rows.length, missing, unplanned, groups, parts: parts.map(groupsOf) };
}

/** A label with more values on one page names rows rather than groups of them. */
const MOST_VALUES = 50;

function shownLabels(rows: readonly ReportRow[]): ReadonlySet<string> {
  const values = new Map<string, Set<string>>();
  for (const { result } of rows)
    for (const [name, value] of Object.entries(result.labels ?? {}))
      values.set(name, (values.get(name) ?? new Set()).add(value));
  return new Set([...values].flatMap(([name, all]) => (all.size <= MOST_VALUES ? [name] : [])));
}

function groupsOf(rows: readonly ReportRow[]): RowGroups {
  const groups = new Map<string, RowGroups[number]>();
  for (const { result } of rows) {
    const { outcome, model } = result;
    const kind = failureKind(result) ?? '';
    const id = [outcome, kind, model].join('\n');
    groups.set(id, [outcome, kind, model, (groups.get(id)?.[3] ?? 0) + 1]);
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
}

interface Part {
  readonly name: string;
  readonly groups: RowGroups;
}

/** Values for the first page's template. `campaign` is the page's title. */
interface IndexView {
  readonly campaign: string;
  readonly [name: string]: unknown;
}

interface Tile {
  readonly name: string;
  readonly value: string;
  readonly tone: Tone | '';
  readonly hint: string;
}

/** Writes the first page, the navigation and filter data, and the files that all pages share. */
export async function writeGalleryIndex(
  folder: ReportFolder,
  facts: ReportFacts,
  pages: readonly (readonly [page: number, facts: PageFacts])[],
  groups: readonly GroupMoney[],
): Promise<void> {
  const all = pages.flatMap(([page, { parts }]) =>
    parts.map((groups, part): Part => ({ name: partName(page, part), groups })),
  );
  for (const [path, content] of Object.entries(ASSETS)) await folder.write(path, content);
  await folder.write('data/index.js', indexData(all));
  await folder.write('index.html', renderIndex(indexView(facts, all, groups)));
}

function indexData(parts: readonly Part[]): string {
  const all = parts.flatMap(({ groups }) => groups);
  const kinds = [...new Set(all.map(([, kind]) => kind))].sort();
  const models = [...new Set(all.map(([, , model]) => model))].sort();
  const data = {
    outcomes: ROW_OUTCOMES.map((outcome) => {
      const { label, tone } = outcomeWords(outcome);
      return [outcome, label, tone];
    }),
    kinds,
    models,
    pages: parts.map(({ name, groups }) => [
      name,
      groups.map(([outcome, kind, model, rows]) => [
        ROW_OUTCOMES.indexOf(outcome),
        kinds.indexOf(kind),
        models.indexOf(model),
        rows,
      ]),
    ]),
  };
  return `window.gallery=${scriptJson(data)};\n`;
}

const TABLES = [
  ['day', 'Money by day (UTC)', 'Day'],
  ['label', 'Money by label', 'Label'],
] as const;

function groupView({ by: _by, group, rows, ...money }: GroupMoney, currency: string | null) {
  return {
    group,
    rows: count(rows),
    estimate: moneyText(money.estimate, currency),
    actual: money.billed === 0 ? '–' : moneyText(money.actual, currency),
    cost: moneyText(sumOfMoney(money), currency),
  };
}

function indexView(facts: ReportFacts, parts: readonly Part[], groups: readonly GroupMoney[]): IndexView {
  const { plan, asOf, startedAt, finishedAt } = facts;
  const end = finishedAt ?? asOf;
  return {
    campaign: facts.campaign,
    state: facts.state,
    tone: campaignTone(facts),
    bad: count(needingPerson(facts.counts)),
    asOf: end,
    asOfText: timeText(end),
    startedText: timeText(startedAt),
    tookText: facts.state === 'done' ? spanText(startedAt, end) : null,
    ...bar(facts),
    tiles: countTiles(facts),
    money: moneyTiles(facts.money, facts),
    tables: TABLES.map(([by, title, head]) => ({
      title,
      head,
      rows: groups.filter((one) => one.by === by).map((one) => groupView(one, facts.currency)),
    })),
    notes: facts.notes,
    issues: (plan?.issues ?? []).map((issue) => ({ ...issue, column: issue.column ?? '' })),
    issuesTitle: issuesTitle(plan?.invalid ?? 0, plan?.issues.length ?? 0),
    pages: parts.map(({ name, groups }) => ({
      name,
      number: name.replace(/^page-0*/, ''),
      rows: count(sumOf(groups)),
      bad: sumOf(groups.filter(([outcome]) => outcomeWords(outcome).tone === 'bad')),
    })),
  };
}

/** Returns the campaign's tone. As long as the campaign is running, its remaining rows count as in progress. */
function campaignTone({ state, counts, remaining }: ReportFacts): Tone {
  const isOpen = state === 'running' || (remaining ?? 0) > 0;
  return worstTone([...Object.keys(counts), ...(isOpen ? ['still_running'] : [])]);
}

function countTiles({ state, counts, plan, remaining }: ReportFacts): Tile[] {
  const tile = (name: string, value: number | null, tone: Tile['tone'] = ''): Tile[] =>
    value === null ? [] : [{ name, value: count(value), tone: value === 0 ? '' : tone, hint: '' }];
  return [
    ...tile('rows in the manifest', plan?.rows ?? null),
    ...tile('completed', counts.completed ?? 0, 'good'),
    ...tile('needing attention', needingPerson(counts), 'bad'),
    ...tile('open or not bought', ofTone(counts, 'wait'), 'wait'),
    ...tile('without a result yet', state === 'done' && remaining === 0 ? null : remaining),
    ...tile('left out by the limit', plan !== null && plan.left > 0 ? plan.left : null),
    ...tile('not valid', plan !== null && plan.invalid > 0 ? plan.invalid : null, 'bad'),
  ];
}

/** If there is a budget, the amounts add up to its total. */
function moneyTiles(money: MoneyTotals, { currency, budget }: ReportFacts): Tile[] {
  const of = budget?.total.currency ?? currency;
  const amount = (name: string, microUnits: number, tone: Tile['tone'], hint: string): Tile => ({
    name,
    value: of === null && microUnits === 0 ? 'none' : moneyText(microUnits, of),
    tone: microUnits === 0 ? '' : tone,
    hint,
  });
  const parts =
    budget === null
      ? [
          amount('settled', money.settled, 'good', 'billed'),
          amount('estimated', money.estimated, 'good', 'usage reported, no bill yet'),
          amount('reserved', money.reserved, 'wait', 'may still be owed'),
          amount('needs review', money.needsReview, 'bad', 'failed, lost or without usage'),
        ]
      : [
          amount('spent', budget.spent, 'good', 'bills, and estimates where there is none'),
          amount('reserved', budget.reserved, 'wait', 'for rows in flight'),
          amount('under review', budget.review, 'bad', 'may have been charged'),
          amount('free', budget.free, '', `of a ${formatMoney(budget.total)} budget`),
          ...(budget.over > 0 ? [amount('over budget', budget.over, 'bad', 'bills above estimates')] : []),
        ];
  const bills = money.billed === 1 ? '1 attempt has a bill' : `${count(money.billed)} attempts have a bill`;
  return [
    ...parts,
    amount('estimate', money.estimate, '', 'of all attempts'),
    amount('billed', money.actual, '', bills),
    {
      name: 'with unknown price',
      value: money.unknown === 1 ? '1 attempt' : `${count(money.unknown)} attempts`,
      tone: money.unknown > 0 ? 'bad' : '',
      hint: 'unknown does not mean free',
    },
  ];
}

function ofTone(counts: RowCounts, tone: Tone): number {
  return Object.entries(counts).reduce(
    (sum, [outcome, n]) => sum + (outcomeWords(outcome).tone === tone ? n : 0),
    0,
  );
}

const WIDTH = 1_000;

/** The bar's widths are attributes, because the page's Content-Security-Policy forbids inline styles. */
function bar({ counts, remaining, plan }: ReportFacts): {
  readonly bar: readonly { tone: Tone; x: number; width: number }[];
  readonly barLabel: string;
} {
  const ended = Object.values(counts).reduce((sum, n) => sum + n, 0);
  const all = Math.max(1, ended + (remaining ?? 0), (plan?.rows ?? 0) - (plan?.left ?? 0));
  let x = 0;
  const parts = (['good', 'bad', 'wait'] as const).flatMap((tone) => {
    const n = ofTone(counts, tone);
    if (n === 0) return [];
    const width = Math.max(2, Math.round((n / all) * WIDTH));
    x += width;
    return [{ tone, x: x - width, width }];
  });
  return {
    bar: parts,
    barLabel: `${count(ended)} of ${count(all)} rows ended, ${count(counts.completed ?? 0)} completed`,
  };
}

function sumOf(groups: RowGroups): number {
  return groups.reduce((sum, [, , , rows]) => sum + rows, 0);
}

function issuesTitle(invalid: number, shown: number): string {
  const rows =
    invalid === 1 ? '1 manifest row is not valid' : `${count(invalid)} manifest rows are not valid`;
  return shown < invalid ? `${rows} (first ${shown} issues)` : rows;
}

const count = (n: number): string => n.toLocaleString('en-US');
