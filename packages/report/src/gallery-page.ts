import { failureKind } from 'temporal-media/internal/domain/outcome-words';
import { inOrder, PAGE_CARDS, pageNumber, type PageRows, type ReportRow } from './page-rows';
import { type PlannedRows } from './read-results';
import { type ReportFolder } from './report-folder';
import { type PageFacts, type RowGroups } from './report-state';
import { rowCard } from './row-card';
import { renderCard, renderPage } from './templates';

export interface GalleryPageOptions {
  readonly folder: ReportFolder;
  readonly planned: PlannedRows;
  readonly campaign: string;
  readonly currency: string | null;
}

/** File name without its extension: `page-0001`, and `page-0001-2` for a second part. */
export function partName(page: number, part: number): string {
  return `page-${pageNumber(page)}${part === 0 ? '' : `-${part + 1}`}`;
}

/**
 * Writes the HTML of a page and its data for the filters. Does not rewrite files whose content is unchanged.
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

/** JSON that is also valid in JavaScript of any version and safe inside an HTML page. */
export function scriptJson(value: unknown): string {
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
  return { rows: rows.length, missing, unplanned, parts: parts.map(groupsOf) };
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
