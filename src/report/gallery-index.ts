import { type MoneyTotals } from '../domain/campaign/results';
import { ROW_OUTCOMES, type RowOutcome } from '../domain/campaign/row';
import { partName, scriptJson } from './gallery-page';
import { OUTCOME_WORDS, type Tone } from './outcome-words';
import { pageNumber } from './page-rows';
import { type ReportFolder } from './report-folder';
import { type ReportFacts } from './report-options';
import { type PageFacts } from './report-state';
import { moneyText } from './row-card';
import { ASSETS, renderIndex } from './templates';
import { spanText, timeText } from './time-text';

type Pages = readonly (readonly [page: number, facts: PageFacts])[];

/** What the template of the first page shows; `campaign` is its title. */
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

/** Writes the first page, the data that every page navigates by, and the files that all pages share. */
export async function writeGalleryIndex(
  folder: ReportFolder,
  facts: ReportFacts,
  pages: Pages,
): Promise<void> {
  for (const [path, content] of Object.entries(ASSETS)) await folder.write(path, content);
  await folder.write('data/index.js', indexData(pages));
  await folder.write('index.html', renderIndex(indexView(facts, pages)));
}

function indexData(pages: Pages): string {
  const models = [...new Set(pages.flatMap(([, { groups }]) => groups.map(([, model]) => model)))].sort();
  const places = new Map(models.map((model, place) => [model, place]));
  const outcomes = new Map(ROW_OUTCOMES.map((outcome, place) => [outcome, place]));
  const data = {
    outcomes: ROW_OUTCOMES,
    models,
    // Filters count by page: the few pages of more than one part are counted at their first.
    pages: pages.flatMap(([page, { parts, groups }]) =>
      Array.from({ length: parts }, (_, part) => [
        partName(page, part),
        groups.map(([outcome, model, rows]) => [
          outcomes.get(outcome),
          places.get(model),
          part === 0 ? rows : 0,
        ]),
      ]),
    ),
  };
  return `window.gallery=${scriptJson(data)};\n`;
}

function indexView(facts: ReportFacts, pages: Pages): IndexView {
  const rows = pages.reduce((sum, [, page]) => sum + page.rows, 0);
  const outcomes = countBy(pages, ([outcome]) => outcome);
  const models = countBy(pages, ([, model]) => model);
  const { plan, asOf, startedAt, finishedAt } = facts;
  const end = finishedAt ?? asOf;
  return {
    campaign: facts.campaign,
    state: facts.state,
    asOf: end,
    asOfText: timeText(end),
    startedText: timeText(startedAt),
    tookText: facts.state === 'done' ? spanText(startedAt, end) : null,
    ...bar(facts),
    tiles: countTiles(facts),
    money: moneyTiles(facts.money, facts),
    notes: facts.notes,
    issues: plan?.issues ?? [],
    issuesTitle: issuesTitle(plan?.invalid ?? 0, plan?.issues.length ?? 0),
    rowsText: count(rows),
    outcomes: ROW_OUTCOMES.filter((outcome) => outcomes.has(outcome)).map((word) => ({
      word,
      ...OUTCOME_WORDS[word],
      rows: count(outcomes.get(word) ?? 0),
    })),
    models: [...models]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, number]) => ({ name, rows: count(number) })),
    pages: pages.flatMap(([page, { parts, rows: ofPage, groups }]) =>
      Array.from({ length: parts }, (_, part) => ({
        name: partName(page, part),
        number: `${Number(pageNumber(page))}${part === 0 ? '' : `-${part + 1}`}`,
        rows: part === 0 ? count(ofPage) : 'more',
        bad: part === 0 ? groups.reduce((sum, [outcome, , n]) => sum + (isBad(outcome) ? n : 0), 0) : 0,
      })),
    ),
  };
}

function countTiles({ counts, plan, remaining }: ReportFacts): Tile[] {
  const tone = (wanted: Tone): number =>
    Object.entries(counts).reduce(
      (sum, [outcome, n]) => sum + (OUTCOME_WORDS[outcome as RowOutcome].tone === wanted ? n : 0),
      0,
    );
  const tile = (name: string, value: number | null, look: Tile['tone'] = ''): Tile[] =>
    value === null ? [] : [{ name, value: count(value), tone: value === 0 ? '' : look, hint: '' }];
  return [
    ...tile('rows in the manifest', plan?.rows ?? null),
    ...tile('completed', counts.completed ?? 0, 'good'),
    ...tile('to look at', tone('bad'), 'bad'),
    ...tile('open or not bought', tone('wait'), 'wait'),
    ...tile('without a result yet', remaining),
    ...tile('left out by a limit', plan !== null && plan.left > 0 ? plan.left : null),
    ...tile('not valid', plan !== null && plan.invalid > 0 ? plan.invalid : null, 'bad'),
  ];
}

function moneyTiles(money: MoneyTotals, { currency, budget }: ReportFacts): Tile[] {
  const amount = (
    name: string,
    microUnits: number,
    tone: Tile['tone'],
    hint: string,
    of = currency,
  ): Tile => ({
    name,
    value: of === null && microUnits === 0 ? '—' : moneyText(microUnits, of),
    tone: microUnits === 0 ? '' : tone,
    hint,
  });
  return [
    amount('settled', money.settled, 'good', 'the service reported usage'),
    amount('reserved', money.reserved, 'wait', 'may still be owed'),
    amount('needs review', money.needsReview, 'bad', 'failed, lost or without usage'),
    {
      name: 'unknown',
      value: money.unknown === 1 ? '1 attempt' : `${count(money.unknown)} attempts`,
      tone: money.unknown > 0 ? 'bad' : '',
      hint: 'without a known price; not free',
    },
    ...(budget === null
      ? []
      : [amount('budget', budget.microUnits, '', 'nothing is created beyond it', budget.currency)]),
  ];
}

const WIDTH = 1_000;

/** Widths as attributes: the policy of the page allows no inline style. */
function bar({ counts, remaining, plan }: ReportFacts): {
  readonly bar: readonly { tone: Tone; x: number; width: number }[];
  readonly barLabel: string;
} {
  const ended = Object.values(counts).reduce((sum, n) => sum + n, 0);
  const all = Math.max(1, ended + (remaining ?? 0), (plan?.rows ?? 0) - (plan?.left ?? 0));
  let x = 0;
  const parts = (['good', 'bad', 'wait'] as const).flatMap((tone) => {
    const n = Object.entries(counts).reduce(
      (sum, [outcome, rows]) => sum + (OUTCOME_WORDS[outcome as RowOutcome].tone === tone ? rows : 0),
      0,
    );
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

function countBy(
  pages: Pages,
  by: (group: PageFacts['groups'][number]) => string,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const [, { groups }] of pages)
    for (const group of groups) counts.set(by(group), (counts.get(by(group)) ?? 0) + group[2]);
  return counts;
}

function issuesTitle(invalid: number, shown: number): string {
  const rows = invalid === 1 ? '1 row of the manifest is not valid' : `${count(invalid)} rows are not valid`;
  return shown < invalid ? `${rows}; the first ${shown} issues` : rows;
}

const isBad = (outcome: RowOutcome): boolean => OUTCOME_WORDS[outcome].tone === 'bad';
const count = (n: number): string => n.toLocaleString('en-US');
