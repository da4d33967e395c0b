import {
  type OpenedPage,
  type OpenedRow,
  type OpenPageInput,
  type PageAddress,
  type RowSpec,
} from '../../domain/campaign/activities';
import { unpackRows } from '../../domain/campaign/row-set';
import { type CampaignRow } from '../../domain/campaign/row';
import { batchLog, type CampaignRecord } from '../../domain/campaign/book';
import { type CreateJournal, type JournalKey } from '../../domain/create-journal';
import { type CreatedVideo } from '../../domain/paid-call';
import { referenceModeOf } from '../../domain/media';
import { inLanes } from '../../domain/in-lanes';
import { indexCreated } from '../index-created';
import { caller } from '../paid-context';
import { ownsBatch } from '../payer-stops';
import { type BegunRow, begunOfRows, LOOKS } from './begun-before';
import { type PageReader } from './page-reader';

export interface OpenPageDeps {
  readonly pages: PageReader;
  /** @default 'none': nobody can say what was begun before */
  readonly journal?: CreateJournal | 'none';
}

/**
 * The body of `media.openPage`: what a batch must know of the rows of a page, and what the journal knows of them. Prompts,
 * sources and model-specific fields stay in the artifact, because this answer enters a history (C5.4c).
 */
export function createOpenPage({ pages, journal = 'none' }: OpenPageDeps) {
  return async ({ index, page, campaign, rows: wanted, payer }: OpenPageInput): Promise<OpenedPage> => {
    const { rows } = await pages.page({ index, page });
    if (payer !== undefined && journal !== 'none') {
      // Before anybody looks at what was begun: a run that is not this one sends nothing more from here on.
      const { namespace, runId } = caller(Date.now());
      if (!(await ownsBatch(journal, namespace, payer, runId))) return { specs: [], rows: [], closed: true };
    }
    const only = wanted === undefined ? undefined : unpackRows(wanted);
    const isWanted = (place: number) => only?.has(place) !== false;
    const begun =
      campaign === undefined || journal === 'none'
        ? []
        : await begunOfRows(journal, campaign, rows, (_, place) => isWanted(place));
    const numbers = new Map<string, number>();
    const specs: RowSpec[] = [];
    const opened = rows.map((row, place): OpenedRow | null => {
      if (!isWanted(place)) return null;
      const spec = specOf(row);
      const name = JSON.stringify(spec);
      const number = numbers.get(name) ?? specs.push(spec) - 1;
      numbers.set(name, number);
      const { line, key, content, attempt, rebought, changed, was } = row;
      return {
        row: row.row,
        line,
        key,
        content,
        spec: number,
        ...(attempt > 0 && { attempt }),
        ...(rebought === true && { rebought }),
        ...(changed === true && { changed }),
        ...(was !== undefined && { was }),
        ...begun[place]?.begun,
      };
    });
    const created = journal === 'none' ? [] : await createdOf(journal, { index, page }, begun);
    return { specs, rows: opened, ...(created.length > 0 && { created }) };
  };
}

/**
 * Videos that batches of this very plan have bought: the key of a row may hold what was bought with another text before.
 * Each is findable by its id from here on: a kill may have come between its outcome and that.
 */
async function createdOf(
  journal: CreateJournal,
  { index, page }: PageAddress,
  begun: readonly BegunRow[],
): Promise<NonNullable<OpenedPage['created']>> {
  const payers = new Map<string, Promise<CampaignRecord | null>>();
  const recordOf = ({ namespace }: JournalKey, payer: string) => {
    const reading = payers.get(payer) ?? journal.readRecord(batchLog(namespace, payer), 0);
    payers.set(payer, reading);
    return reading;
  };
  const found: (readonly [number, CreatedVideo])[] = [];
  await inLanes(begun.entries(), LOOKS, async ([place, { created }]) => {
    if (created?.slot.payer === undefined) return;
    const { key, video, slot } = created;
    const record = await recordOf(key, created.slot.payer);
    if (record?.kind !== 'batch' || !record.rows.some((set) => set.index === index && set.page === page))
      return;
    await indexCreated(journal, key, video, slot);
    found.push([place, video]);
  });
  return found;
}

function specOf({ call, account, estimate }: CampaignRow): RowSpec {
  const video = call.operation === 'create_video' ? call.request : undefined;
  return {
    operation: call.operation,
    model: call.request.model,
    account: account ?? null,
    durationSeconds: video?.durationSeconds ?? null,
    resolution: video?.resolution ?? null,
    referenceMode: video === undefined ? null : referenceModeOf(video.references),
    estimate,
  };
}
