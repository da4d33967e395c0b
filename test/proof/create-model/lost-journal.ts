import {
  copyOfJournal,
  emptyJournal,
  type Bounds,
  type Caller,
  type Epoch,
  type Rules,
  type World,
} from './world';

/**
 * A person binds the next journal, an empty one or an earlier copy, when no worker uses the last one any more. What
 * histories tell of paid calls is written into it first.
 */
export function loseJournal(copy: World, found: readonly Epoch[] | null, bounds: Bounds, rules: Rules): void {
  copy.losses += 1;
  copy.epochs = found === null ? emptyJournal(bounds.epochs) : copyOfJournal(found);
  if (found === null) copy.journal += 1;
  // Only what is on the wire goes on.
  copy.senders = copy.senders.filter(({ step }) => step === 'send');
  for (const sender of copy.senders) sender.lost = true;
  copy.callers.forEach((own, index) => {
    if (own.phase !== 'done') own.early = true;
    if (own.phase === 'fencing') own.phase = 'reconcile';
    const { heard, hasTask } = own;
    const mayHaveSent = heard?.holder === index || hasTask;
    if (!rules.standsIn || !mayHaveSent || copy.epochs.some(({ slot }) => slot === index)) return;
    standIn(copy, index, hasTask ? 'created' : 'unconfirmed');
  });
}

/** Whether the journal of now can tell what the create of a caller came to (src/domain/journal-proof.ts). */
export function provesNotSent({ journal, epochs }: World, { heard, early }: Caller): boolean {
  if (heard === null) return !early;
  return heard.journal === journal && epochs[heard.epoch]?.slot === heard.holder;
}

/** In the first epoch that is free; undefined beyond the bounds. */
export function standIn(copy: World, index: number, outcome: 'created' | 'unconfirmed'): number | undefined {
  const at = copy.epochs.findIndex(({ slot }) => slot === null);
  if (at < 0) return undefined;
  Object.assign(copy.epochs[at] as Epoch, { slot: index, outcome });
  return at;
}

/** No epoch stands alone: those that the journal does not have are over for whoever asks for a later one. */
export function fenceBefore({ epochs }: World, at: number): void {
  for (const epoch of epochs.slice(0, at)) epoch.slot ??= 'fence';
}

/** An unknown fate that was written down in an epoch that is over for whoever begins in a later one. */
export function unknownBefore({ epochs }: World, from: number, { looksBack }: Rules): number | undefined {
  const at = epochs.findIndex(({ outcome, decision }) => outcome === 'unconfirmed' && decision === null);
  return looksBack && at >= 0 && at < from ? at : undefined;
}
