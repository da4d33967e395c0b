import {
  isUndecided,
  type CreateJournal,
  type EpochView,
  type JournalKey,
  type JournalPlace,
  type SlotIntent,
} from '../domain/create-journal';
import { mayBeAlive } from './await-sender';
import { isPassed } from './epochs';

/** Whether a paid call waits for a decision: its fate is unknown, and no sender of it can be alive any more. */
export function awaitsDecision(view: EpochView, now: number): boolean {
  if (view.slot?.kind !== 'intent' || !isUndecided(view)) return false;
  return view.outcome !== null || !mayBeAlive(view.slot, now);
}

/** A call with the same body to the same account, under another key of the namespace, whose fate is unknown. */
export async function otherOpenCall(
  journal: CreateJournal | 'none',
  key: JournalKey,
  intent: SlotIntent,
): Promise<JournalPlace | undefined> {
  if (journal === 'none') return undefined;
  for (const place of await journal.findOpenByBody(intent.bodyHash)) {
    if (place.creationKey === key.creationKey || place.namespace !== key.namespace) continue;
    const view = await journal.read(place, place.epoch);
    const same =
      view.slot?.kind === 'intent' &&
      view.slot.bodyHash === intent.bodyHash &&
      view.slot.account === intent.account;
    if (!same || !awaitsDecision(view, Date.now())) continue;
    if (view.outcome !== null || !(await isPassed(journal, place, place.epoch))) return place;
  }
  return undefined;
}
