import { type CallWait } from '../../domain/call-wait';
import { type Batch } from './batch';

/** How long after the end of a wait it is still told: the next try needs a moment, and says it again. */
const HELD_FOR_MS = 60_000;

/** A row has to wait: news for the campaign unless others do already. */
export function holdRow(batch: Batch, wait: CallWait): void {
  const isNews = heldNow(batch, Date.now()) === null;
  batch.held = wait;
  if (isNews) batch.parent.tell();
}

export function heldNow({ held }: Pick<Batch, 'held'>, now: number): CallWait | null {
  return held !== null && now < held.until + HELD_FOR_MS ? held : null;
}
