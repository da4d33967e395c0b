import {
  copyOfJournal,
  emptyJournal,
  type Bounds,
  type Caller,
  type SendAttempt,
  type Rules,
  type World,
} from './world';

/**
 * A person binds the next journal, an empty one or an earlier copy, when no worker uses the last one any more. What
 * histories tell of paid calls is written into it first.
 */
export function loseJournal(
  copy: World,
  found: readonly SendAttempt[] | null,
  bounds: Bounds,
  rules: Rules,
): void {
  copy.losses += 1;
  copy.sendAttempts = found === null ? emptyJournal(bounds.sendAttempts) : copyOfJournal(found);
  if (found === null) copy.journal += 1;
  // Only what is on the wire goes on.
  copy.senders = copy.senders.filter(({ step }) => step === 'send');
  for (const sender of copy.senders) sender.lost = true;
  copy.callers.forEach((own, index) => {
    if (own.phase !== 'done') own.early = true;
    if (own.phase === 'fencing') own.phase = 'reconcile';
    const { heard, hasTask } = own;
    const mayHaveSent = heard?.holder === index || hasTask;
    if (!rules.standsIn || !mayHaveSent || copy.sendAttempts.some(({ claim }) => claim === index)) return;
    recordPlaceholder(copy, index, hasTask ? 'created' : 'unconfirmed');
  });
}

/** Whether the journal of now can tell what the create of a caller came to (src/domain/journal-proof.ts). */
export function provesNotSent({ journal, sendAttempts }: World, { heard, early }: Caller): boolean {
  if (heard === null) return !early;
  return heard.journal === journal && sendAttempts[heard.sendAttempt]?.claim === heard.holder;
}

/** In the first send attempt that is free; undefined beyond the bounds. */
export function recordPlaceholder(
  copy: World,
  index: number,
  outcome: 'created' | 'unconfirmed',
): number | undefined {
  const at = copy.sendAttempts.findIndex(({ claim }) => claim === null);
  if (at < 0) return undefined;
  Object.assign(copy.sendAttempts[at] as SendAttempt, { claim: index, outcome });
  return at;
}

/** No send attempt stands alone: those that the journal does not have are over for whoever asks for a later one. */
export function fenceBefore({ sendAttempts }: World, at: number): void {
  for (const sendAttempt of sendAttempts.slice(0, at)) sendAttempt.claim ??= 'fence';
}

/** An unknown fate that was written down in a send attempt that is over for whoever begins in a later one. */
export function unknownBefore(
  { sendAttempts }: World,
  from: number,
  { looksBack }: Rules,
): number | undefined {
  const at = sendAttempts.findIndex(
    ({ outcome, decision }) => outcome === 'unconfirmed' && decision === null,
  );
  return looksBack && at >= 0 && at < from ? at : undefined;
}
