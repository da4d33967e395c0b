import { type MoneyTotals, type RowOutcome } from 'temporal-media';
import { addMoney, NO_MONEY, type PlanAddress } from 'temporal-media/internal/domain/campaign/results';
import { type MediaLayout } from './media';
import { parseJson, ReportError, type ReportFolder, STATE_FOLDER } from './report-folder';
import { type DatedFacts } from './report-options';

/** A page's row counts by outcome, failure kind (empty for none) and model. */
export type RowGroups = readonly (readonly [
  outcome: RowOutcome,
  kind: string,
  model: string,
  rows: number,
])[];

/** What a group of rows cost, in micro-units. */
export interface GroupMoney extends MoneyTotals {
  readonly by: 'day' | 'label';
  /**
   * A day of UTC, `2026-11-21`, on which the rows were started, or ended if they never were; or a label, `tenant=acme`.
   */
  readonly group: string;
  readonly rows: number;
}

/** Adds up money by group, in order. */
export function addGroups(all: Iterable<GroupMoney>): GroupMoney[] {
  const groups = new Map<string, GroupMoney>();
  for (const { by, group, rows, ...money } of all) {
    const id = `${by} ${group}`;
    const sum = groups.get(id) ?? { rows: 0, ...NO_MONEY };
    groups.set(id, { by, group, rows: sum.rows + rows, ...addMoney(sum, money) });
  }
  return [...groups].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, money]) => money);
}

/** Totals for the rows of one page. */
export interface PageFacts {
  readonly rows: number;
  /** Media that were not in the store. */
  readonly missing: number;
  /** Rows whose prompts are not shown because their plan was unknown. */
  readonly unplanned: number;
  readonly groups: readonly GroupMoney[];
  /** Parts of at most 200 cards. There is more than one only if the manifest was reordered between two plans. */
  readonly parts: readonly RowGroups[];
}

/** The state after earlier refreshes. It is written last, so that everything it refers to is in the folder. */
export interface ReportState {
  readonly v: 1;
  readonly campaign: string;
  /** First 16 hex digits of the hashes of the segments and indexes that were merged into the pages. */
  readonly segments: readonly string[];
  readonly plans: readonly PlanAddress[];
  /** Pages by number, from 0. */
  readonly pages: { readonly [page: string]: PageFacts };
  /** The campaign's newest state so far. */
  readonly newest: DatedFacts | null;
  /** The highest generation of any row. */
  readonly rowGeneration: number;
  /** Digest of templates and currency. When it changes, pages are rewritten. */
  readonly look: string;
  /** Fixed once the first rows exist, so that no file is stored twice when the campaign grows; null until then. */
  readonly layout: MediaLayout | null;
}

const STATE_FILE = `${STATE_FOLDER}/state.json`;

export function shortHash(sha256: string): string {
  return sha256.slice(0, 16);
}

export async function readState(folder: ReportFolder, campaign: string): Promise<ReportState> {
  const text = await folder.read(STATE_FILE);
  if (text === null)
    return {
      v: 1,
      campaign,
      segments: [],
      plans: [],
      pages: {},
      newest: null,
      rowGeneration: 0,
      look: '',
      layout: null,
    };
  const state = parseJson<ReportState>(text);
  if (state.v !== 1)
    throw new ReportError(
      'unreadable',
      'A newer version of this package wrote the report. Update the package, or choose another folder.',
    );
  if (state.campaign !== campaign)
    throw new ReportError(
      'other_campaign',
      "The folder contains another campaign's report. Choose another folder.",
    );
  return state;
}

export async function writeState(folder: ReportFolder, state: ReportState): Promise<void> {
  await folder.write(STATE_FILE, `${JSON.stringify(state)}\n`);
}
