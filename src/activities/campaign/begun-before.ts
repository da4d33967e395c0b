import { mayHaveCost, type CreateJournal, type EpochView } from '../../domain/create-journal';
import { type OpenedRow } from '../../domain/campaign/activities';
import { isBooked } from '../../domain/campaign/row-result';
import { type CampaignRow } from '../../domain/campaign/row';
import { rowCreationKey } from '../../domain/creation-key';
import { inLanes } from '../../domain/in-lanes';
import { caller } from '../paid-context';

/**
 * What a lane that is gone, or an earlier run that nobody has results of, began of a row: its attempts follow each other
 * without a gap, and each leaves a slot. Throws when the journal cannot be read: a row that was bought must not look new.
 */
export async function begunBefore(
  journal: CreateJournal,
  namespace: string,
  campaign: string,
  row: Pick<CampaignRow, 'key' | 'content' | 'rebought' | 'attempt' | 'was'>,
): Promise<Pick<OpenedRow, 'begun' | 'bought'>> {
  let begun: number | undefined;
  let bought = 0;
  for (let attempt = row.attempt; ; attempt++) {
    const creationKey = rowCreationKey(campaign, row, attempt);
    const epochs = await epochsOf(journal, { namespace, creationKey });
    if (epochs.length === 0) break;
    begun = attempt;
    if (epochs.some(mayHaveCost) && !isBooked(row.was?.ledger ?? [], creationKey)) bought += 1;
  }
  return begun === undefined ? {} : { begun, ...(bought > 0 && { bought }) };
}

/** Rows that are looked up in the journal at a time. */
const LOOKS = 16;

/** {@link begunBefore} of rows of this campaign, each in its place; nothing is known of those that are not wanted. */
export async function begunOfRows(
  journal: CreateJournal,
  campaign: string,
  rows: readonly CampaignRow[],
  isWanted: (row: CampaignRow, place: number) => boolean,
): Promise<Pick<OpenedRow, 'begun' | 'bought'>[]> {
  const { namespace } = caller(Date.now());
  const begun: Pick<OpenedRow, 'begun' | 'bought'>[] = rows.map(() => ({}));
  await inLanes(rows.entries(), LOOKS, async ([place, row]) => {
    if (isWanted(row, place)) begun[place] = await begunBefore(journal, namespace, campaign, row);
  });
  return begun;
}

async function epochsOf(
  journal: CreateJournal,
  key: Parameters<CreateJournal['read']>[0],
): Promise<EpochView[]> {
  const views: EpochView[] = [];
  for (;;) {
    const view = await journal.read(key, views.length);
    if (view.slot === null) return views;
    views.push(view);
  }
}
