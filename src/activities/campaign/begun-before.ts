import {
  mayHaveCost,
  type CreateJournal,
  type EpochView,
  type JournalKey,
  type SlotIntent,
} from '../../domain/create-journal';
import { type OpenedRow } from '../../domain/campaign/activities';
import { isBooked } from '../../domain/campaign/row-result';
import { type CampaignRow } from '../../domain/campaign/row';
import { rowCreationKey } from '../../domain/creation-key';
import { inLanes } from '../../domain/in-lanes';
import { type CreatedVideo } from '../../domain/paid-call';
import { caller } from '../paid-context';

type Begun = Pick<OpenedRow, 'begun' | 'bought' | 'since'>;

/** What was begun of a row, and the video that came of it where one create was all. */
export interface BegunRow {
  readonly begun: Begun;
  readonly created?: {
    readonly key: JournalKey;
    readonly video: CreatedVideo;
    readonly slot: SlotIntent;
  };
}

/** An attempt of a row that was begun, with every epoch of it that has a slot. */
export interface BegunAttempt {
  readonly attempt: number;
  readonly creationKey: string;
  readonly epochs: readonly EpochView[];
}

/** Every attempt of a row of its page that was begun: they follow each other without a gap, and each leaves a slot. */
export async function attemptsOf(
  journal: CreateJournal,
  namespace: string,
  campaign: string,
  row: Pick<CampaignRow, 'key' | 'content' | 'rebought' | 'attempt'>,
): Promise<readonly BegunAttempt[]> {
  const attempts: BegunAttempt[] = [];
  for (let { attempt } = row; ; attempt++) {
    const creationKey = rowCreationKey(campaign, row, attempt);
    const epochs = await epochsOf(journal, { namespace, creationKey });
    if (epochs.length === 0) return attempts;
    attempts.push({ attempt, creationKey, epochs });
  }
}

/**
 * What another batch, or an earlier run that nobody has results of, began of a row. Throws when the journal cannot be read: a row that was bought must not look new.
 */
export async function begunBefore(
  journal: CreateJournal,
  namespace: string,
  campaign: string,
  row: Pick<CampaignRow, 'key' | 'content' | 'rebought' | 'attempt' | 'was'>,
): Promise<BegunRow> {
  let begun: number | undefined;
  let since: string | undefined;
  let bought = 0;
  const attempts = await attemptsOf(journal, namespace, campaign, row);
  for (const { attempt, creationKey, epochs } of attempts) {
    begun = attempt;
    since = epochs.flatMap(({ slot }) => (slot?.kind === 'intent' ? slot.at : [])).at(-1);
    if (epochs.some(mayHaveCost) && !isBooked(row.was?.ledger ?? [], creationKey)) bought += 1;
  }
  if (begun === undefined) return { begun: {} };
  const created = onlyCreated(namespace, attempts);
  return {
    begun: {
      begun,
      ...(bought > 0 && { bought }),
      ...(since !== undefined && { since }),
    },
    ...(created !== undefined && { created }),
  };
}

/** The video of a row of which one request was ever sent, if that was accepted and nobody has decided about it. */
function onlyCreated(namespace: string, [first, ...others]: readonly BegunAttempt[]): BegunRow['created'] {
  const [only, ...later] = first?.epochs ?? [];
  if (first === undefined || only === undefined || others.length > 0 || later.length > 0) return undefined;
  const { slot, outcome, resolution } = only;
  const answer = outcome?.answer;
  if (slot?.kind !== 'intent' || answer?.outcome !== 'created' || resolution !== null) return undefined;
  return { key: { namespace, creationKey: first.creationKey }, video: { ...answer, sent: false }, slot };
}

/** Whether something may have been bought with this fingerprint under the first key of a row. */
export async function isFirstText(
  journal: CreateJournal,
  key: Parameters<CreateJournal['read']>[0],
  fingerprint: string | null,
): Promise<boolean> {
  const epochs = await epochsOf(journal, key);
  return epochs.some(
    (epoch) => epoch.slot?.kind === 'intent' && epoch.slot.fingerprint === fingerprint && mayHaveCost(epoch),
  );
}

/** Rows that are looked up in the journal at a time. */
export const LOOKS = 16;

/** {@link begunBefore} of rows of this campaign, each in its place; nothing is known of those that are not wanted. */
export async function begunOfRows(
  journal: CreateJournal,
  campaign: string,
  rows: readonly CampaignRow[],
  isWanted: (row: CampaignRow, place: number) => boolean,
): Promise<BegunRow[]> {
  const { namespace } = caller(Date.now());
  const begun: BegunRow[] = rows.map(() => ({ begun: {} }));
  await inLanes(rows.entries(), LOOKS, async ([place, row]) => {
    if (isWanted(row, place)) begun[place] = await begunBefore(journal, namespace, campaign, row);
  });
  return begun;
}

/** Every epoch of a key that has a slot, in order. */
export async function epochsOf(
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
