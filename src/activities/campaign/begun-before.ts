import { isOpenFate, isPaid, type CreateJournal, type EpochView } from '../../domain/create-journal';
import { type OpenedRow } from '../../domain/campaign/activities';
import { isBooked } from '../../domain/campaign/row-result';
import { rowCreationKey, type CampaignRow } from '../../domain/campaign/row';

/**
 * What a lane that is gone, or an earlier run that nobody has results of, began of a row: its attempts follow each other
 * without a gap, and each leaves a slot. Throws when the journal cannot be read: a row that was bought must not look new.
 */
export async function begunBefore(
  journal: CreateJournal,
  namespace: string,
  campaign: string,
  row: CampaignRow,
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

function mayHaveCost(view: EpochView): boolean {
  if (isPaid(view.outcome?.answer)) return true;
  if (!isOpenFate(view)) return false;
  const { resolution } = view;
  return !resolution || resolution.answer?.outcome === 'created';
}
